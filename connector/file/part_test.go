package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

// parts is a sink that is written in parts, and what a store has recorded of them.
type parts struct {
	t    *testing.T
	sink *sink
	last []byte
}

func newParts(t *testing.T, dir, params string) *parts {
	return &parts{t: t, sink: newSinkOf(t, dir, params).(*sink)}
}

func (p *parts) open(name string) connector.Writer {
	p.t.Helper()
	w, start, err := p.sink.OpenPart(p.t.Context(), name, p.last)
	if err != nil {
		p.t.Fatal(err)
	}
	p.last = start
	return w
}

func (p *parts) write(w connector.Writer, first, n int) []byte {
	p.t.Helper()
	position, err := w.Write(p.t.Context(), numbered(p.t, first, n))
	if err != nil {
		p.t.Fatal(err)
	}
	return position
}

// recorded is what a position says, as one reads it.
func recorded(t *testing.T, position []byte, from string, header bool) (string, error) {
	t.Helper()
	r, err := ReadRecorded(position)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = r.Copy(&b, from, header)
	return b.String(), err
}

// TestWhatAFrozenWriterWritesTooLateIsNotRead: it writes into the part that it has,
// and the next writer into another.
func TestWhatAFrozenWriterWritesTooLateIsNotRead(t *testing.T) {
	dir := t.TempDir()
	p := newParts(t, dir, `{path="out/n.jsonl"}`)
	frozen := p.open("1")
	if _, err := os.Stat(filepath.Join(dir, "out")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part that nothing was written to is there: %v", err)
	}
	first := p.write(frozen, 0, 3)
	p.last = first
	next := p.open("2") // of another process: the frozen one holds its file
	second := p.write(next, 3, 2)
	p.write(frozen, 100, 5)
	for position, want := range map[string]string{string(first): numberedText(0, 3), string(second): numberedText(3, 2)} {
		if got, err := recorded(t, []byte(position), dir, true); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		if name, written, err := p.sink.Part([]byte(position)); name == "" || !written || err != nil {
			t.Errorf("a part %q, written %v, %v", name, written, err)
		}
	}
	if err := errors.Join(frozen.Close(), next.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "out", "n.part-*.jsonl"))
	if err != nil || len(names) != 2 || !slices.IsSorted(names) {
		t.Errorf("the files are %q, %v", names, err)
	}
}

// TestTheNextPartCutsTheFormerOneOfItsFolder, or removes it where nothing of it is
// recorded; what somebody else put there stays.
func TestTheNextPartCutsTheFormerOneOfItsFolder(t *testing.T) {
	for _, c := range []struct {
		name            string
		recorded, extra int
		spoil, want     string
	}{
		{"cut", 3, 2, "", numberedText(0, 3)},
		{"as it was", 3, 0, "", numberedText(0, 3)},
		{"nothing recorded", 0, 2, "", ""},
		{"another file", 3, 0, strings.Repeat("another\n", 9), strings.Repeat("another\n", 9)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := newParts(t, dir, `{path="n.jsonl"}`)
			w := p.open("1")
			if c.recorded > 0 {
				p.last = p.write(w, 0, c.recorded)
			}
			if c.extra > 0 {
				p.write(w, c.recorded, c.extra)
			}
			path := filepath.Join(dir, "n.part-1.jsonl")
			err := w.Close()
			if c.spoil != "" {
				err = errors.Join(err, os.WriteFile(path, []byte(c.spoil), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := p.open("2").Close(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if string(got) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestAPartWhoseWriteFailedKeepsWhatWasWrittenBefore, so that trying again for ever
// does not fill the disk.
func TestAPartWhoseWriteFailedKeepsWhatWasWrittenBefore(t *testing.T) {
	for _, before := range []int{0, 2} {
		d := newFakeDisk()
		s := newSinkOf(t, "data", `{path="n.jsonl"}`).(*sink)
		s.disk = d
		p := &parts{t: t, sink: s}
		w := p.open("1")
		if before > 0 {
			p.write(w, 0, before)
		}
		const path = "data/n.part-1.jsonl"
		d.torn = 5
		d.calls = 0
		if before == 0 {
			d.calls = 2 // create, sync the folder
		}
		if _, err := w.Write(t.Context(), numbered(t, before, 1)); !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		d.calls = -1
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, there := d.files[path]
		if there != (before > 0) || there && string(f.current) != numberedText(0, before) {
			t.Errorf("after %d rows: the file is there: %v, %+v", before, there, f)
		}
	}
}

func TestRecordedPartsAreReadWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	p := newParts(t, dir, `{path="n.csv"; format=csv}`)
	w := p.open("1")
	position := p.write(w, 7, 2)
	for header, want := range map[bool]string{true: "n\n7\n8\n", false: "7\n8\n"} {
		if got, err := recorded(t, position, dir, header); got != want || err != nil {
			t.Errorf("header %v: got %q, %v", header, got, err)
		}
	}
	if _, err := recorded(t, position, t.TempDir(), true); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "copy it here") {
		t.Errorf("a file that is not there: %v", err)
	}
	path := filepath.Join(dir, "n.part-1.csv")
	for text, want := range map[string]error{"n\n7\n9\n": errOther, "n\n7\n": errShort} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := recorded(t, position, dir, true); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAPartNeverTakesAFileThatIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "n.part-1.jsonl"), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newParts(t, dir, `{path="n.jsonl"}`).open("1")
	if _, err := w.Write(t.Context(), numbered(t, 0, 1)); !errors.Is(err, connector.ErrMalformed) {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
