package pebblestore

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/rondo-flow/rondo/store"
)

// frozenDisk is a freezer with an open log and an open table, whose disk fails
// from now on.
func frozenDisk(t *testing.T) (f *freezer, disk *vfs.MemFS, log, table vfs.File) {
	t.Helper()
	var full atomic.Bool
	disk = vfs.NewMem()
	if err := disk.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	f = newFreezer(errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	})), "data", slog.New(slog.DiscardHandler))
	log, table = put1(t, f, "data/1.log"), put1(t, f, "data/2.sst")
	full.Store(true)
	return f, disk, log, table
}

// put1 creates a file and writes to it.
func put1(t *testing.T, f *freezer, name string) vfs.File {
	t.Helper()
	file, err := f.Create(name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = file.Write([]byte("before "))
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAfterAFailureTheDiskStaysAndWritesSucceedInMemory(t *testing.T) {
	f, disk, log, _ := frozenDisk(t)
	before := disk.String()
	n, err := log.Write([]byte("lost"))
	if n != 4 || err != nil || log.Sync() != nil || log.SyncData() != nil {
		t.Fatalf("the write that fails: %d, %v", n, err)
	}
	if err := f.failed(); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "data/1.log") {
		t.Fatalf("the reason is %v", err)
	}
	put1(t, f, "data/3.log")
	if err := errors.Join(f.Rename("data/3.log", "data/4.log"), f.Remove("data/1.log"), f.Remove("data/none")); err != nil {
		t.Fatal(err)
	}
	again, err := f.ReuseForWrite("data/2.sst", "data/5.log", vfs.WriteCategoryUnspecified)
	if err != nil || again.Close() != nil {
		t.Fatal(err)
	}
	if after := disk.String(); after != before {
		t.Fatalf("the disk changed from\n%s\nto\n%s", before, after)
	}
	reads(t, f, "data/4.log", "before ")
	reads(t, f, "data/5.log", "")
	reads(t, f, "data/2.sst", "before ")
}

func TestATableThatWasBeingWrittenFailsAndCanBeWrittenAgain(t *testing.T) {
	f, _, log, table := frozenDisk(t)
	if _, err := log.Write([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	if n, err := table.Write([]byte("x")); n != 0 || !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("write to a torn table: %d, %v", n, err)
	}
	if err := table.Sync(); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("sync of a torn table: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	whole := put1(t, f, "data/2.sst")
	if _, err := whole.Write([]byte("and after")); err != nil {
		t.Fatal(err)
	}
	reads(t, f, "data/2.sst", "before and after")
}

func TestTheFirstReasonStays(t *testing.T) {
	f, _, log, _ := frozenDisk(t)
	f.fail(corrupt("a block"))
	_, _ = log.Write([]byte("lost"))
	if err := f.failed(); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("the reason is %v", err)
	}
}

func reads(t *testing.T, f *freezer, name, want string) {
	t.Helper()
	file, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := io.ReadAll(file)
	info, statErr := f.Stat(name)
	if err != nil || statErr != nil || string(got) != want || info.Size() != int64(len(want)) {
		t.Fatalf("%s has %q, %v, %v, want %q", name, got, err, statErr, want)
	}
}
