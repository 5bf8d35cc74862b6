package pebblestore

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// logger is what Pebble logs to. Its chatter is dropped.
type logger struct {
	fs  *freezer
	log *slog.Logger
}

func (logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

// Fatalf is called when Pebble cannot go on, and expects the process to end.
// The store ends instead: nothing that happens after this reaches the disk, and
// every call fails.
func (l logger) Fatalf(format string, args ...any) {
	l.fs.fail(fmt.Errorf("%w: %s; start again", store.ErrUnavailable, fmt.Sprintf(format, args...)))
}

// listener hears of what goes wrong in the background.
func listener(fs *freezer, log *slog.Logger) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if fs.failed() == nil {
				log.Error("background work of the store failed", "error", err)
			}
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			fs.fail(corrupt("%s: %v", info.Path, info.Details))
		},
		PossibleAPIMisuse: func(info pebble.PossibleAPIMisuseInfo) {
			log.Error("the store was misused", "info", info)
		},
	}
}
