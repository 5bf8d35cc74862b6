package pebblestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/store/pebblestore"
)

func TestAFolderIsAStoreOnceItWasOpened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	want := func(want bool) {
		t.Helper()
		if got, err := pebblestore.Exists(dir); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	want(false)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	want(false)
	open(t, dir, pebblestore.Options{})
	want(true)
}
