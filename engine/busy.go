package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// busy names the input that a handler works on, for errors and for the status:
// a call that takes long shows with its key (D-23).
type busy struct {
	where string // computation and partition

	mu    sync.Mutex
	since time.Duration
	key   flow.Key
	on    bool
}

func (b *busy) begin(now time.Duration, key flow.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since, b.key, b.on = now, key, true
}

func (b *busy) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = false
}

// longest returns the key in hand if its call has run for at least limit.
func (b *busy) longest(now, limit time.Duration) (key flow.Key, spent time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spent = now - b.since
	return b.key, spent, b.on && spent >= limit
}

// wrap says where an error of the input in hand comes from.
func (b *busy) wrap(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Errorf("%s, key %s: %w", b.where, b.key, err)
}
