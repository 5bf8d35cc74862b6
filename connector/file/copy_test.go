package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

// The sink goes on writing after its position was stored. The copy has what was
// written by then, and a sink goes on there just as the first one does.
func TestASinkGoesOnInACopyMadeWhileItWrites(t *testing.T) {
	for _, before := range []int{0, 3, 200_000} {
		dir, to := t.TempDir(), t.TempDir()
		w, position, err := newSink(t, dir, "out/n.jsonl").Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if before > 0 {
			position = writeRows(t, w, 0, before)
		}
		writeRows(t, w, before, 2) // later than the copied position
		if path, err := CopyWritten(t.Context(), dir, position, to); err != nil || path != filepath.Join(dir, "out", "n.jsonl") {
			t.Fatalf("copied %s, %v", path, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w, _, err = newSink(t, to, "out/n.jsonl").Open(t.Context(), position)
		if err != nil {
			t.Fatal(err)
		}
		writeRows(t, w, before, 5)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for folder, n := range map[string]int{dir: before + 2, to: before + 5} {
			if text, err := os.ReadFile(filepath.Join(folder, "out", "n.jsonl")); err != nil || string(text) != numberedText(0, n) {
				t.Errorf("%d rows before the copy: %s has %d bytes, want the rows 0 to %d: %v", before, folder, len(text), n, err)
			}
		}
	}
}

func writeRows(t *testing.T, w connector.Writer, first, n int) []byte {
	t.Helper()
	position, err := w.Write(context.Background(), numbered(t, first, n))
	if err != nil {
		t.Fatal(err)
	}
	return position
}

func TestWhatIsNotTheSinksOrNotInTheFolderIsNotCopied(t *testing.T) {
	path := func(dir string) string { return filepath.Join(dir, "out", "n.jsonl") }
	for _, c := range []struct {
		name  string
		spoil func(dir string) error
		want  string
	}{
		{"edited", func(dir string) error { return overwrite(path(dir), "8", 5) }, "not what the sink wrote"},
		{"cut", func(dir string) error { return os.Truncate(path(dir), 5) }, "not what the sink wrote"},
		{"gone", func(dir string) error { return os.Remove(path(dir)) }, "no such file"},
	} {
		dir := t.TempDir()
		position := writeOnce(t, dir, 3)
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := CopyWritten(t.Context(), dir, position, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	for _, outside := range []string{filepath.Join(t.TempDir(), "n.jsonl"), "../n.jsonl"} {
		position := mark{Path: outside, Position: 3}.encode()
		if _, err := CopyWritten(t.Context(), t.TempDir(), position, t.TempDir()); !errors.Is(err, ErrOutside) {
			t.Errorf("%s: got %v, want ErrOutside", outside, err)
		}
	}
}

func TestACopyEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	position := writeOnce(t, dir, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("enough"))
	if _, err := CopyWritten(ctx, dir, position, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
}
