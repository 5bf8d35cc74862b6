package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flowtest"
)

// followScript follows app.log in a folder that the commands of a transcript
// change. Each change makes the files it touches a second younger, as the order
// of files depends on it.
type followScript struct {
	t      testing.TB
	dir    string
	params string
	reader connector.Reader
	offset []byte
	clock  time.Time
}

func TestFollowTranscript(t *testing.T) {
	datadriven.Walk(t, "testdata/follow", func(t *testing.T, path string) {
		s := &followScript{t: t, dir: t.TempDir(), clock: time.Unix(1e9, 0)}
		defer s.close()
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			out, err := s.run(td)
			switch {
			case errors.Is(err, connector.ErrMalformed):
				out += fmt.Sprintln("error for good:", err)
			case err != nil:
				out += fmt.Sprintln("error:", err)
			}
			return strings.ReplaceAll(out, s.dir, "DIR")
		})
	})
}

// run executes one command. The files are written, renamed, removed, cut, copied
// and listed; open starts a reader at the offset of the last batch, read returns
// what there is, and close ends the reader as a crash would.
func (s *followScript) run(td *datadriven.TestData) (string, error) {
	name, to, size := "app.log", "", 0
	td.MaybeScanArgs(s.t, "name", &name)
	td.MaybeScanArgs(s.t, "to", &to)
	td.MaybeScanArgs(s.t, "size", &size)
	path := filepath.Join(s.dir, name)
	switch td.Cmd {
	case "open":
		s.params = td.Input
		return "", s.open()
	case "close":
		s.close()
	case "forget":
		s.offset = nil
	case "read":
		return s.read(td.HasArg("once"))
	case "write":
		text := td.Input + "\n"
		if td.HasArg("part") {
			text = td.Input
		}
		return "", s.write(path, text)
	case "rename":
		return "", os.Rename(path, filepath.Join(s.dir, to))
	case "remove":
		return "", os.Remove(path)
	case "mkdir":
		return "", os.Mkdir(path, 0o777)
	case "cut":
		return "", errors.Join(os.Truncate(path, int64(size)), s.touch(path))
	case "copy":
		b, err := os.ReadFile(path)
		return "", errors.Join(err, s.write(filepath.Join(s.dir, to), string(b)))
	case "ls":
		return s.list()
	default:
		s.t.Fatalf("%s: unknown command %s", td.Pos, td.Cmd)
	}
	return "", nil
}

func (s *followScript) write(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close(), s.touch(path))
}

func (s *followScript) touch(path string) error {
	s.clock = s.clock.Add(time.Second)
	return os.Chtimes(path, s.clock, s.clock)
}

func (s *followScript) list() (string, error) {
	entries, err := os.ReadDir(s.dir)
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %d bytes\n", e.Name(), info.Size())
	}
	return b.String(), err
}

func (s *followScript) open() error {
	s.close()
	src, err := NewSource(connector.Setup{
		Parameters: parameters(s.t, `{path="app.log";`+s.params+`}`), Schema: flowtest.Schema(s.t, "s string"), SpecDir: s.dir,
	})
	if err != nil {
		return err
	}
	if _, err := src.Partitions(context.Background()); err != nil {
		return err
	}
	s.reader, err = src.Open(context.Background(), "app.log", s.offset)
	return err
}

func (s *followScript) close() {
	if s.reader == nil {
		return
	}
	if err := s.reader.Close(); err != nil {
		s.t.Error(err)
	}
	s.reader = nil
}

// idle is a context that ends when somebody waits for its end: a Read under it
// returns all there is, and then its error.
type idle struct {
	context.Context
	waited bool
}

func newIdle() *idle { return &idle{Context: context.Background()} }

// Done ends the context.
func (c *idle) Done() <-chan struct{} {
	c.waited = true
	done := make(chan struct{})
	close(done)
	return done
}

// Err is nil until Done was called.
func (c *idle) Err() error {
	if c.waited {
		return context.Canceled
	}
	return nil
}

// read reads all there is, or one batch of one row.
func (s *followScript) read(once bool) (string, error) {
	var out strings.Builder
	limit := connector.Limit{Rows: 100, Bytes: 1 << 20}
	if once {
		limit.Rows = 1
	}
	for {
		b, err := s.reader.Read(newIdle(), limit)
		if errors.Is(err, context.Canceled) {
			return out.String() + "waits\n", nil
		}
		if err != nil {
			return out.String(), err
		}
		s.offset = b.Offset
		out.WriteString(describe(b))
		if once {
			return out.String(), nil
		}
	}
}

// describe prints a batch on a line.
func describe(b connector.Batch) string {
	var words []string
	for _, row := range b.Rows {
		words = append(words, row[0].AsString())
	}
	if b.Skipped > 0 {
		words = append(words, fmt.Sprintf("skipped %d: %v", b.Skipped, b.SkippedFirst))
	}
	if b.Gap != "" {
		words = append(words, "gap: "+b.Gap)
	}
	if b.End {
		words = append(words, "end")
	}
	return strings.Join(words, " ") + "\n"
}
