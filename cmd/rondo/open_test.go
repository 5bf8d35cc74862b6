package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// TestALockIsWaitedForAWhile: a process that was killed may hold its store a
// moment longer; one that goes on working is told.
func TestALockIsWaitedForAWhile(t *testing.T) {
	for _, c := range []struct {
		name          string
		freed, leaves time.Duration // after which the lock is given back, or the wait called off
		want          error
		after         time.Duration
	}{
		{"a dying process", lockWait / 2, time.Hour, nil, lockWait / 2},
		{"a running process", time.Hour, time.Hour, store.ErrLocked, lockWait},
		{"nobody waits any more", time.Hour, lockWait / 4, store.ErrLocked, lockWait / 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.leaves)
				defer cancel()
				holder, err := openStore(ctx, where{dataDir: dir}, discard())
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error)
				began := time.Now()
				go func() {
					<-time.After(c.freed)
					done <- holder.Close()
				}()
				s, err := openStore(ctx, where{dataDir: dir}, discard())
				if took := time.Since(began); took < c.after || took > c.after+2*lockPoll {
					t.Errorf("it took %s, want %s", took, c.after)
				}
				if !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if err == nil {
					err = s.Close()
					if err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
