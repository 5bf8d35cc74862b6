package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// TestWhoHoldsADataFolderIsWaitedFor: a process that was killed may hold it a moment
// longer, and a command lets it go by itself, however long that takes; a run that
// goes on is told of.
func TestWhoHoldsADataFolderIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name          string
		passing       bool
		freed, leaves time.Duration // after which it is let go, or the wait called off
		want          error
		after         time.Duration
		told          int
	}{
		{"a dying process", keeping, lockWait / 2, time.Hour, nil, lockWait / 2, 0},
		{"a running process", keeping, time.Hour, time.Hour, store.ErrLocked, lockWait, 0},
		{"nobody waits any more", keeping, time.Hour, lockWait / 4, store.ErrLocked, lockWait / 4, 0},
		{"a quick command", passing, tellAfter / 2, time.Hour, nil, tellAfter / 2, 0},
		{"a slow command", passing, 100 * lockWait, time.Hour, nil, 100 * lockWait, 1},
		{"nobody waits for a command any more", passing, time.Hour, 10 * lockWait, store.ErrLocked, 10 * lockWait, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.leaves)
				defer cancel()
				at := where{dataDir: dir}
				holder, err := at.hold(c.passing)
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error)
				began := time.Now()
				go func() {
					<-time.After(c.freed)
					done <- holder.Release()
				}()
				told := 0
				folder, err := retry(ctx, &patience{most: lockWait, tell: func(error) { told++ }}, func() (*pebblestore.Folder, error) { return at.hold(keeping) })
				if took := time.Since(began); took < c.after || took > c.after+2*lockPoll {
					t.Errorf("it took %s, want %s", took, c.after)
				}
				if !errors.Is(err, c.want) || told != c.told {
					t.Errorf("error %v, told %d times; want %v, %d", err, told, c.want, c.told)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if err == nil {
					err = folder.Release()
					if err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// TestAStoreThatSomebodyElseHoldsIsWaitedForAWhile: a program may have a store
// without the folder around it.
func TestAStoreThatSomebodyElseHoldsIsWaitedForAWhile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		holder, err := openStore(t.Context(), where{dataDir: dir}, discard())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := openStore(t.Context(), where{dataDir: dir}, discard()); !errors.Is(err, store.ErrLocked) || time.Since(began) < lockWait {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if err := holder.Close(); err != nil {
			t.Error(err)
		}
	})
}
