package pebblestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// TestAFolderOfAFormerFormatIsReadAndMarked: what an older Rondo wrote is read as
// it is, and from then on the older one refuses the folder rather than misread it.
func TestAFolderOfAFormerFormatIsReadAndMarked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, pebblestore.Options{})
	p := &store.Pipeline{Name: "orders", Static: "{}", Dynamic: "{a=1}", Loaded: "{}"}
	if err := s.SavePipeline(t.Context(), p); err != nil { // without commands: the value of format 1
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "rondo.format")
	now, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, []byte("rondo store 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, pebblestore.Options{})
	read, err := s.Pipeline(t.Context())
	if err != nil || !read.Equal(p) {
		t.Errorf("read %+v, %v, want %+v", read, err, p)
	}
	if text, err := os.ReadFile(mark); err != nil || string(text) != string(now) {
		t.Errorf("the mark is %q, %v, want %q", text, err, now)
	}
}
