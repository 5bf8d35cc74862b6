package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrittenFindsTheFileOfAPosition and tells it from every other.
func TestWrittenFindsTheFileOfAPosition(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages int
		spoil    func(path string) error
		want     string // part of the error; none: it is found
	}{
		{"as it was written", 3, func(string) error { return nil }, ""},
		{"with rows that were not recorded", 3, func(path string) error { return appendTo(path, "{}\n") }, "not what the sink wrote: it has 27 bytes, and 24 are recorded"},
		{"edited in the middle", 9999, func(path string) error { return overwrite(path, "8", 50_000) }, "not what the sink wrote"},
		{"long, as it was written", 9999, func(string) error { return nil }, ""},
		{"not a row yet", 0, func(string) error { return nil }, ""},
		{"not a row recorded", 0, func(path string) error { return appendTo(path, "{}\n") }, "not what the sink wrote: it has 3 bytes, and 0 are recorded"},
		{"another content", 3, func(path string) error { return os.WriteFile(path, []byte(numberedText(7, 3)), 0o600) }, "not what the sink wrote"},
		{"cut", 3, func(path string) error { return os.Truncate(path, 5) }, "not what the sink wrote: the file has become shorter"},
		{"another file in its place", 0, func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		}, "not what the sink wrote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out", "n.jsonl")
			position := writeOnce(t, dir, c.messages)
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			got, err := Written(dir, position)
			if got != path || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestWrittenTellsAFileThatIsGoneOrInUse(t *testing.T) {
	dir := t.TempDir()
	s := newSink(t, dir, "n.jsonl")
	w, position, err := s.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Written(dir, position); !errors.Is(err, errLocked) {
		t.Errorf("a file in use: %v", err)
	}
	if err := errors.Join(w.Close(), os.Remove(filepath.Join(dir, "n.jsonl"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Written(dir, position); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := Written(dir, []byte("nonsense")); err == nil {
		t.Error("a position that no sink gave out is taken")
	}
}

// writeOnce writes messages and returns the position after them.
func writeOnce(t *testing.T, dir string, messages int) []byte {
	t.Helper()
	w, position, err := newSink(t, dir, "out/n.jsonl").Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if messages > 0 {
		if position, err = w.Write(context.Background(), numbered(t, 0, messages)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return position
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func overwrite(path, text string, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), at)
	return errors.Join(err, f.Close())
}

// TestTheWholeChecksumGoesOnAfterARestart, and after rows were cut off.
func TestTheWholeChecksumGoesOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	position := writeOnce(t, dir, 3)
	for range 3 {
		if err := appendTo(filepath.Join(dir, "out", "n.jsonl"), "not recorded"); err != nil {
			t.Fatal(err)
		}
		w, _, err := newSink(t, dir, "out/n.jsonl").Open(t.Context(), position)
		if err != nil {
			t.Fatal(err)
		}
		if position, err = w.Write(t.Context(), numbered(t, 3, 2)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Written(dir, position); err != nil {
			t.Error(err)
		}
	}
}
