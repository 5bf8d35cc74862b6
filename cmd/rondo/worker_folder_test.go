package main

import (
	"errors"
	"os"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// TestNoTwoWorkersShareADataFolder: each takes the first that is free, and one that
// it is told only if nobody has it.
func TestNoTwoWorkersShareADataFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	io := &streams{err: os.Stderr}
	hold := func(c *workerCommand, want string) func() {
		t.Helper()
		dir, f, err := c.holdFolder(t.Context(), io, "flows")
		if err != nil || dir != want {
			t.Fatalf("got %s, %v; want %s", dir, err, want)
		}
		return func() {
			if err := f.Release(); err != nil {
				t.Error(err)
			}
		}
	}
	first := hold(&workerCommand{}, "rondo-data/flows/worker-1")
	defer hold(&workerCommand{}, "rondo-data/flows/worker-2")()
	first()
	first = hold(&workerCommand{}, "rondo-data/flows/worker-1")
	if _, _, err := (&workerCommand{Data: "rondo-data/flows/worker-1"}).holdFolder(t.Context(), io, "flows"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a folder that another worker has: %v", err)
	}
	first()
	hold(&workerCommand{Data: "rondo-data/flows/worker-1"}, "rondo-data/flows/worker-1")()
}
