package console

import (
	"log/slog"
	"time"
)

// defaults are the options with what was left out.
func (o Options) defaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}
