package pebblestore_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// files reads a folder, to compare it with what it becomes.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(text)
	}
	return found
}

func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text := "of " + name
		if name == "rondo.format" {
			text = "rondo store 1\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// refused wants dir to be refused as corrupt with all texts, and to stay as it is.
func refused(t *testing.T, dir string, texts ...string) {
	t.Helper()
	before := files(t, dir)
	_, err := pebblestore.Open(dir, pebblestore.Options{})
	for _, text := range append(texts, dir) {
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), text) {
			t.Fatalf("open: %v, want ErrCorrupt with %q", err, text)
		}
	}
	if after := files(t, dir); !maps.Equal(after, before) {
		t.Fatalf("a refused folder was changed from\n%q\nto\n%q", before, after)
	}
}

func TestAFolderOfOthersIsRefusedAndStaysAsItIs(t *testing.T) {
	for _, name := range []string{"000007.log", "000009.sst", "MANIFEST-000001", "CURRENT", "marker.format-version.000001.013", "notes.txt"} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, name, "LOCK")
			refused(t, dir, "holds "+name+" but no rondo.format", "choose an empty folder")
			if there, err := pebblestore.Exists(dir); there || err != nil {
				t.Fatalf("exists: %v, %v", there, err)
			}
		})
	}
}

func TestAStartThatWasCutShortIsBegunAgain(t *testing.T) {
	cases := map[string][]string{
		"nothing":           nil,
		"before the mark":   {"LOCK", "rondo.owner", "rondo.owner.new", "rondo.format.new"},
		"after the mark":    {"LOCK", "rondo.owner", "rondo.format"},
		"before the marker": {"LOCK", "rondo.owner", "rondo.format", "MANIFEST-000001"},
	}
	for name, names := range cases {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, names...)
			if there, err := pebblestore.Exists(dir); there || err != nil {
				t.Fatalf("exists: %v, %v", there, err)
			}
			open(t, dir, pebblestore.Options{})
		})
	}
}

// made makes a store with rows in tables and in the log.
func made(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir, pebblestore.Options{MemTableBytes: 32 << 10})
	parts, err := s.CreatePartitions(context.Background(), []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := s.RaiseGeneration(context.Background(), parts[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := s.Commit(context.Background(), bulky(job.Partition, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func lose(t *testing.T, dir, pattern string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: found %q, %v", pattern, found, err)
	}
	for _, path := range found {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStoreThatLostAFileIsRefusedAndKeepsTheRest(t *testing.T) {
	cases := []struct{ lost, text string }{
		{"rondo.format", "but no rondo.format"},
		{"marker.manifest.*", "the file marker.manifest.* that says which manifest counts is missing"},
		{"marker.*", "marker.manifest.*"},
	}
	for _, tc := range cases {
		t.Run(tc.lost, func(t *testing.T) {
			dir := made(t)
			lose(t, dir, tc.lost)
			refused(t, dir, tc.text)
		})
	}
	t.Run("all but tables", func(t *testing.T) {
		dir := made(t)
		for _, pattern := range []string{"marker.*", "MANIFEST-*", "OPTIONS-*", "*.log"} {
			lose(t, dir, pattern)
		}
		refused(t, dir, ".sst, but the file marker.manifest.*")
		if there, err := pebblestore.Exists(dir); !there || err != nil {
			t.Fatalf("exists: %v, %v: who looks is to be told", there, err)
		}
	})
}
