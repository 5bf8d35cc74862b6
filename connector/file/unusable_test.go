//go:build unix

package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

// TestAPathThatCannotBeAFileStopsThePipeline: it would be tried for ever.
func TestAPathThatCannotBeAFileStopsThePipeline(t *testing.T) {
	dir := t.TempDir()
	err := errors.Join(
		os.Mkdir(filepath.Join(dir, "folder"), 0o777), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
		os.Symlink("nowhere", filepath.Join(dir, "link")), os.Symlink("circle", filepath.Join(dir, "circle")))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"folder": "not a regular file", "pipe": "not a regular file", "/dev/null": "not a regular file",
		"file/out": "a part of the path is a file", "file/a/out": "a part of the path is a file",
		"link": "a symbolic link on the path leads to nothing", "link/out": "a symbolic link on the path leads to nothing",
		"circle": "lead in a circle", strings.Repeat("x", 256): "the path is too long",
	} {
		_, _, err := newSink(t, dir, path).Open(t.Context(), nil)
		if !errors.Is(err, connector.ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: error %v, want for good that %s", path, err, want)
		}
	}
}

func TestAFileDeletedUnderWayStopsThePipelineAndALockDoesNot(t *testing.T) {
	dir := t.TempDir()
	w, _, err := newSink(t, dir, "n.jsonl").Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	position, err := w.Write(t.Context(), numbered(t, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := newSink(t, dir, "n.jsonl").Open(t.Context(), position); !errors.Is(err, errLocked) || errors.Is(err, connector.ErrMalformed) {
		t.Errorf("a file in use: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "n.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(t.Context(), numbered(t, 1, 1)); err == nil {
		t.Error("rows are written to a file that nobody will find")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"n.jsonl": "the file is gone", "other.jsonl": "were written to n.jsonl, move that file here"} {
		_, _, err := newSink(t, dir, path).Open(t.Context(), position)
		if !errors.Is(err, connector.ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want for good that %s", path, err, want)
		}
	}
}

func TestASinkDoesNotWriteIntoTheStore(t *testing.T) {
	dir := t.TempDir()
	links := []error{
		os.Symlink("store", filepath.Join(dir, "link")), // before there is a store
		os.Symlink("link/000001.log", filepath.Join(dir, "log")),
		os.Symlink("elsewhere", filepath.Join(dir, "fine")),
	}
	if err := errors.Join(links...); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		for path, inside := range map[string]bool{
			"store": true, "store/LOCK": true, "./store/000099.log": true, "out/../store/x": true, "link/x": true, "link": true, "log": true,
			filepath.Join(dir, "store", "x"): true, dir + "/out/../link/new/x": true,
			"stores": false, "out/store": false, "fine/x": false, "store.jsonl": false, dir + "/x": false,
		} {
			_, err := NewSink(connector.Setup{Parameters: parameters(t, `{path="`+path+`"}`), DataDir: dir})
			if inside != (err != nil && strings.Contains(err.Error(), "where the pipeline keeps its state: give a path outside of it")) {
				t.Errorf("%s: error %v, inside the store: %v", path, err, inside)
			}
		}
	}
	check()
	if err := os.Mkdir(filepath.Join(dir, "store"), 0o777); err != nil {
		t.Fatal(err)
	}
	check()
}
