package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/connectortest"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// numbered returns messages of one column n, numbered from first.
func numbered(t testing.TB, first, n int) []flow.Message {
	s := flowtest.Schema(t, "n int64")
	var messages []flow.Message
	for i := first; i < first+n; i++ {
		messages = append(messages, flowtest.Message("in", flow.Key{}, 0, s, schema.Row{schema.Int64(int64(i))}))
	}
	return messages
}

func numberedText(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "{\"n\":%d}\n", i)
	}
	return b.String()
}

func newSink(t testing.TB, dir, path string) connector.Sink {
	t.Helper()
	return newSinkOf(t, dir, fmt.Sprintf("{path=%q}", path))
}

func newSinkOf(t testing.TB, dir, params string) connector.Sink {
	t.Helper()
	s, err := NewSink(connector.Setup{Parameters: parameters(t, params), DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSinkKeepsTheContract(t *testing.T) {
	for format, row := range map[string]string{"jsonl": "{\"n\":%d}\n", "csv": "%d\n"} {
		t.Run(format, func(t *testing.T) {
			connectortest.Sink(t, func(t *testing.T) connectortest.SinkTarget {
				dir := t.TempDir()
				return connectortest.SinkTarget{
					New:     func() connector.Sink { return newSinkOf(t, dir, "{path=\"out/deep/n\"; format="+format+"}") },
					Message: func(i int) flow.Message { return numbered(t, i, 1)[0] },
					Want:    func(i int) string { return fmt.Sprintf(row, i) },
					Content: func() ([]string, error) {
						b, err := os.ReadFile(filepath.Join(dir, "out/deep/n"))
						rows := slices.Collect(strings.Lines(string(b)))
						if format == "csv" && len(rows) > 0 {
							if rows[0] != "n\n" {
								t.Errorf("the header is %q", rows[0])
							}
							rows = rows[1:]
						}
						return rows, err
					},
				}
			})
		})
	}
}

// sinkScript runs a sink on a fake disk and prints what it does there.
type sinkScript struct {
	t        *testing.T
	disk     *fakeDisk
	path     string
	writer   connector.Writer
	last     []byte // what the sink returned last
	recorded []byte // what the pipeline's store has
	next     int
}

func TestSinkTranscript(t *testing.T) {
	datadriven.Walk(t, "testdata/sink", func(t *testing.T, path string) {
		s := &sinkScript{t: t, disk: newFakeDisk(), path: "out/n.jsonl"}
		datadriven.RunTest(t, path, func(_ *testing.T, td *datadriven.TestData) string {
			err := s.run(td)
			out := strings.Join(s.disk.log, "\n")
			s.disk.log = nil
			switch {
			case errors.Is(err, connector.ErrMalformed):
				out += fmt.Sprintf("\nerror for good: %v", err)
			case err != nil:
				out += fmt.Sprintf("\nerror: %v", err)
			}
			return strings.TrimPrefix(out+"\n", "\n")
		})
	})
}

// run executes one command: open, write and record work on the sink; kill,
// remove, append, cut and copy on what it finds.
func (s *sinkScript) run(td *datadriven.TestData) error {
	n := 1
	td.MaybeScanArgs(s.t, "n", &n)
	td.MaybeScanArgs(s.t, "path", &s.path)
	file := s.disk.files[filepath.Join("data", s.path)]
	switch td.Cmd {
	case "open":
		return s.open()
	case "write":
		var err error
		s.last, err = s.writer.Write(context.Background(), numbered(s.t, s.next, n))
		s.next += n
		return err
	case "record":
		s.recorded = s.last
		m, err := decodeMark(s.recorded)
		s.disk.log = append(s.disk.log, fmt.Sprintf("position %d, line %d", m.Position, m.Line))
		return err
	case "close":
		return s.writer.Close()
	case "kill": // the next process begins with the first message not recorded
		s.disk.kill()
		s.next = 0
		if s.recorded != nil {
			m, err := decodeMark(s.recorded)
			s.next = int(m.Line)
			return err
		}
	case "remove":
		delete(s.disk.files, file.path)
	case "append":
		file.current = append(file.current, td.Input+"\n"...)
	case "cut":
		file.current = file.current[:len(file.current)-n]
	case "copy": // the file is another one with the same content
		s.disk.add(file.path, false).current = file.current
	case "make":
		s.disk.add(filepath.Join("data", "out"), true)
		s.disk.add(filepath.Join("data", s.path), false)
	case "show":
		s.disk.log = []string{strings.TrimSuffix(string(file.current), "\n")}
	default:
		td.Fatalf(s.t, "unknown command")
	}
	return nil
}

func (s *sinkScript) open() error {
	target := &sink{name: s.path, dir: "data", disk: s.disk}
	w, start, err := target.Open(context.Background(), s.recorded)
	if err == nil {
		s.writer, s.last = w, start
	}
	return err
}

// TestNothingIsLostOrRepeatedWhereverItDies lets process or machine die at
// random calls and compares the file with what was recorded.
func TestNothingIsLostOrRepeatedWhereverItDies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newFakeDisk()
		var recorded []byte
		next, want := 0, ""
		for range rapid.IntRange(1, 6).Draw(rt, "lives") {
			d.calls = rapid.IntRange(-1, 12).Draw(rt, "calls")
			d.torn = rapid.IntRange(0, 40).Draw(rt, "torn")
			recorded, next, want = live(t, rt, d, recorded, next, want)
			if rapid.Bool().Draw(rt, "power failure") {
				d.powerFailure(func(n int) int { return rapid.IntRange(0, n).Draw(rt, "kept") })
			}
			d.kill()
		}
		_, w, _ := openFake(d, recorded)
		if w == nil {
			rt.Fatalf("the sink does not open at %s", recorded)
		}
		if got := string(d.files["data/out/n.jsonl"].current); got != want {
			rt.Fatalf("the file holds\n%swant\n%s", got, want)
		}
	})
}

func openFake(d *fakeDisk, recorded []byte) ([]byte, connector.Writer, error) {
	w, start, err := (&sink{name: "out/n.jsonl", dir: "data", disk: d}).Open(context.Background(), recorded)
	return start, w, err
}

// live is one life of the process: it opens, writes a few batches and records
// each, until something fails.
func live(t *testing.T, rt *rapid.T, d *fakeDisk, recorded []byte, next int, want string) ([]byte, int, string) {
	start, w, err := openFake(d, recorded)
	if err != nil && !errors.Is(err, errDied) {
		rt.Fatalf("open at %s: %v", recorded, err)
	}
	if err != nil {
		return recorded, next, want
	}
	recorded = start
	for range rapid.IntRange(0, 4).Draw(rt, "batches") {
		n := rapid.IntRange(0, 5).Draw(rt, "messages")
		position, err := w.Write(context.Background(), numbered(t, next, n))
		if err != nil || rapid.IntRange(0, 9).Draw(rt, "dies before recording") == 0 {
			break // the next life writes these messages again
		}
		recorded, want = position, want+numberedText(next, n)
		next += n
	}
	return recorded, next, want
}

func TestAfterAFailedWriteTheWriterWritesNoMore(t *testing.T) {
	d := newFakeDisk()
	_, w, err := openFake(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.calls = 0
	if _, err := w.Write(t.Context(), numbered(t, 0, 1)); !errors.Is(err, errDied) {
		t.Fatalf("error %v", err)
	}
	d.calls = -1
	if _, err := w.Write(t.Context(), numbered(t, 0, 1)); !errors.Is(err, errDied) || !strings.Contains(err.Error(), "an earlier write failed") {
		t.Errorf("error %v", err)
	}
	if got := d.files["data/out/n.jsonl"].current; len(got) > 0 {
		t.Errorf("written after a failure: %q", got)
	}
}

func TestACancelledWriteWritesNothing(t *testing.T) {
	d := newFakeDisk()
	start, w, err := openFake(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Write(ctx, numbered(t, 0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	position, err := w.Write(t.Context(), nil)
	if err != nil || string(position) != string(start) {
		t.Errorf("position %s, error %v, want still %s", position, err, start)
	}
}

func TestTwoSinksOfOneFileAreRefused(t *testing.T) {
	dir := t.TempDir()
	w, start, err := newSink(t, dir, "out.jsonl").Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out.jsonl", filepath.Join(dir, "other-name.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"out.jsonl", "./out.jsonl", "other-name.jsonl"} {
		_, _, err = newSink(t, dir, path).Open(t.Context(), nil)
		if !errors.Is(err, errLocked) {
			t.Errorf("%s: error %v, want that another sink writes to the file", path, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, _, err = newSink(t, dir, "out.jsonl").Open(t.Context(), start)
	if err != nil {
		t.Fatalf("after the first writer was closed: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFileThatIsMovedOrWrittenMeanwhileIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"deleted":  {os.Remove, "the file was moved, deleted or replaced while it was written"},
		"moved":    {func(p string) error { return os.Rename(p, p+".1") }, "the file was moved, deleted or replaced"},
		"replaced": {func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, nil, 0o666)) }, "the file was moved, deleted or replaced"},
		"written":  {func(p string) error { return os.WriteFile(p, []byte("x"), 0o666) }, "the file has 1 bytes where 8 were written: something else writes to it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w, _, err := newSink(t, dir, "out.jsonl").Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			if _, err := w.Write(t.Context(), numbered(t, 0, 1)); err != nil {
				t.Fatal(err)
			}
			if err := c.do(filepath.Join(dir, "out.jsonl")); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(t.Context(), numbered(t, 1, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestSinkPathsMustBeUsable(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                     `1:1: p: path is missing`,
		`{path="../out.jsonl"}`:                  `1:7: p.path: "../out.jsonl" is not below the data folder`,
		`{path="a\x00b"}`:                        `1:7: p.path: "a\x00b" has a zero byte`,
		`{path="store/LOCK"}`:                    `1:7: p.path: "store/LOCK" leads into data/store, where the pipeline keeps its state`,
		`{path=""}`:                              `1:7: p.path: "" is not below the data folder`,
		`{path="x"; format="parquet"}`:           `1:19: p.format: `,
		`{path="x"; delimiter=";"}`:              `1:22: p.delimiter: this is for format = csv`,
		`{path="x"; format=csv}`:                 `1:1: p: the streams a and c have other columns than each other, and a CSV file has one header`,
		`{path="x"; format=csv; delimiter="::"}`: `1:1: p: stream a: the delimiter "::" is not one ASCII character`,
	} {
		streams := flow.Streams{"a": flowtest.Schema(t, "n int64", "s string"), "b": flowtest.Schema(t, "n uint64", "s utf8"), "c": flowtest.Schema(t, "s string", "n int64")}
		_, err := NewSink(connector.Setup{Parameters: parameters(t, text), DataDir: "data", Streams: streams})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want it to begin with %s", text, err, want)
		}
	}
	dir := t.TempDir()
	for _, path := range []string{dir, "/dev/null"} {
		w, _, err := newSink(t, "data", path).Open(t.Context(), nil)
		if err == nil {
			t.Error(w.Close(), "a writer for", path)
		}
	}
	absolute := filepath.Join(dir, "new", "out.jsonl")
	w, _, err := newSink(t, "data", absolute).Open(t.Context(), nil)
	if err != nil {
		t.Fatalf("an absolute path: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(absolute); err != nil {
		t.Error(err)
	}
}

func TestRegisterAddsSourceAndSink(t *testing.T) {
	var r connector.Registry
	if err := Register(&r); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Source("file"); !ok {
		t.Error("no source")
	}
	if _, ok := r.Sink("file"); !ok {
		t.Error("no sink")
	}
	if err := Register(&r); err == nil {
		t.Error("registered twice")
	}
}
