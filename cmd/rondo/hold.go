package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// How long somebody who holds what one needs is waited for: a process that was
// killed until the system has cleaned up after it, and a pipeline that starts or
// stops until it answers or has ended. A command that only passes is waited for
// however long it takes, and told of after a while, so that it never matters who
// was first.
const (
	lockWait   = time.Second
	answerWait = 5 * time.Second
	lockPoll   = 10 * time.Millisecond
	tellAfter  = 2 * time.Second
)

// patience waits for who holds a data folder or a store.
type patience struct {
	// most is how long one is waited for who does not let it go by itself.
	most time.Duration
	// tell is told once whom one waits for.
	tell         func(who error)
	began, since time.Time
	told         bool
}

// wait waits a moment after what one needs was found to be held, and returns err
// when it has waited long enough, or err is another one.
func (p *patience) wait(ctx context.Context, err error) error {
	if !errors.Is(err, store.ErrLocked) {
		return err
	}
	now := time.Now()
	if p.began.IsZero() {
		p.began, p.since = now, now
	}
	if held, ok := errors.AsType[*pebblestore.HeldError](err); ok && held.Owner.Passing {
		p.since = now
		if now.Sub(p.began) >= tellAfter && !p.told {
			p.told = true
			p.tell(err)
		}
	}
	if now.Sub(p.since) >= p.most {
		return err
	}
	select {
	case <-ctx.Done():
		return err
	case <-time.After(lockPoll):
		return nil
	}
}

// retry tries again while it is held by somebody who is worth waiting for.
func retry[T any](ctx context.Context, p *patience, try func() (T, error)) (T, error) {
	for {
		got, err := try()
		if err == nil {
			return got, nil
		}
		if err := p.wait(ctx, err); err != nil {
			var none T
			return none, err
		}
	}
}

// The two ways to hold a data folder.
const (
	passing = true  // a command, which lets it go by itself
	keeping = false // a run
)

// hold takes the data folder for this process if nobody has it.
func (at where) hold(passing bool) (*pebblestore.Folder, error) {
	f, err := pebblestore.HoldFolder(at.dataDir, time.Now(), passing)
	return f, needsWriting(err)
}

// needsWriting says what to do about a place that cannot be written.
func needsWriting(err error) error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: this must be writable, also to be looked at; or choose another folder with --data", err)
	}
	return err
}

// held is a store in a data folder that this process holds.
type held struct {
	storage
	folder *pebblestore.Folder
}

// Close closes the store and lets the folder go.
func (h *held) Close() error { return errors.Join(h.storage.Close(), h.folder.Release()) }

// openHeld opens the store in a data folder that is held, and lets that go with it.
func openHeld(ctx context.Context, at where, folder *pebblestore.Folder) (storage, error) {
	s, err := openStore(ctx, at, discard())
	if err != nil {
		return nil, errors.Join(err, folder.Release())
	}
	return &held{s, folder}, nil
}
