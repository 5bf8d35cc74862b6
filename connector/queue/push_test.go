package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// tick is a clock of tests.
func tick() time.Time { return time.Unix(0, 77) }

// contents returns the values of each partition of q.
func contents(t testing.TB, s store.Queues) (out []string) {
	t.Helper()
	q, there, err := find(t.Context(), s, "q")
	if err != nil || !there {
		t.Fatalf("queue q: %v, %v", there, err)
	}
	for i := range q.Partitions {
		var values []string
		for row, err := range Rows(t.Context(), s, store.QueueRequest{Queue: "q", Partition: i}) {
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, string(row.Value))
		}
		out = append(out, strings.Join(values, " "))
	}
	return out
}

func TestPushedLinesAreDealtOut(t *testing.T) {
	s := storetest.NewModel()
	text := "{\"a\":1}\n\n  {\"a\" : 2}\t\r\n   \n{\"a\":3,\"b\":[\"\\n\"]}\n{}"
	got, err := Push(t.Context(), s, strings.NewReader(text), PushOptions{Now: tick, Queue: "q", Partitions: 3})
	if want := (Pushed{Rows: 4, Bytes: 36, Lines: 6}); err != nil || got != want {
		t.Fatalf("pushed %+v, want %+v (%v)", got, want, err)
	}
	want := []string{`{"a":1} {}`, `{"a" : 2}`, `{"a":3,"b":["\n"]}`}
	if got := contents(t, s); !slices.Equal(got, want) {
		t.Fatalf("the queue has %q, want %q", got, want)
	}
	rows, err := s.ReadQueue(t.Context(), store.QueueRequest{Queue: "q"})
	if err != nil || rows[0].Time != 77 {
		t.Errorf("rows %v (%v), want them at 77", rows, err)
	}
	// The next ones go where the fewest are.
	for i := range 4 {
		if _, err := Push(t.Context(), s, strings.NewReader(fmt.Sprint("{\"n\":", i, "}")), PushOptions{Now: tick, Queue: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	want = []string{`{"a":1} {} {"n":2}`, `{"a" : 2} {"n":0} {"n":3}`, `{"a":3,"b":["\n"]} {"n":1}`}
	if got := contents(t, s); !slices.Equal(got, want) {
		t.Fatalf("the queue has %q, want %q", got, want)
	}
}

func TestAFaultyLineStopsAPushAndKeepsTheLinesBefore(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"no JSON":          {`{"a":x}`, `line 4: byte 6: found 'x', want a JSON value`},
		"no object":        {`[1]`, `line 4: byte 1: found '[', want a row as a JSON object`},
		"two objects":      {`{} {}`, `line 4: byte 4: found '{' after the row`},
		"a long line":      {strings.Repeat("x", 200), "line 4: the line has more than 100 bytes"},
		"a long blank one": {strings.Repeat(" ", 200), "line 4: the line has more than 100 bytes"},
		"a list as key":    {`{"key":[1]}`, "line 4: field key: the value is no string, integer or boolean"},
		"an object as key": {`{"key":{}}`, "line 4: field key"},
		"a fraction":       {`{"key":1.5}`, "line 4: field key"},
		"beyond integers":  {`{"key":1e300}`, "line 4: field key"},
		"not exactly said": {`{"key":9007199254740993e0}`, "line 4: field key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.NewModel()
			text := "{\"key\":1}\n\n{}\n" + tc.line + "\n{}\n"
			got, err := Push(t.Context(), s, strings.NewReader(text), PushOptions{Now: tick, Queue: "q", By: []string{"key"}, MaxRowBytes: 100})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || !strings.HasSuffix(err.Error(), "the lines before it are in the queue: 2 rows") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if !errors.Is(err, connector.ErrMalformed) {
				t.Errorf("%v is not malformed", err)
			}
			if in := contents(t, s); got.Rows != 2 || got.Lines != 4 || in[0] != `{"key":1} {}` {
				t.Errorf("pushed %+v, the queue has %q", got, in)
			}
		})
	}
}

func TestAReaderThatFailsKeepsTheLinesBefore(t *testing.T) {
	s := storetest.NewModel()
	broken := errors.New("pipe broken")
	text := io.MultiReader(strings.NewReader("{}\n{}\n{"), iotest.ErrReader(broken))
	got, err := Push(t.Context(), s, text, PushOptions{Now: tick, Queue: "q"})
	if !errors.Is(err, broken) || got.Rows != 2 || contents(t, s)[0] != "{} {}" {
		t.Errorf("pushed %+v, %v", got, err)
	}
}

func TestPushOptionsThatCannotBeAreRefused(t *testing.T) {
	s := newQueue(t, 2)
	for _, tc := range []struct {
		options PushOptions
		want    string
	}{
		{PushOptions{Now: tick}, "queue name"},
		{PushOptions{Queue: "q"}, "a push needs a clock"},
		{PushOptions{Now: tick, Queue: "r", Partitions: -1}, "-1 partitions"},
		{PushOptions{Now: tick, Queue: "r", Partitions: 5000}, "5000 partitions"},
		{PushOptions{Now: tick, Queue: "q", Partitions: 3}, "queue q has 2 partitions and is to have 3"},
		{PushOptions{Now: tick, Queue: "r", By: []string{"a", "a"}}, "the fields to choose the partition by"},
		{PushOptions{Now: tick, Queue: "r", By: []string{""}}, "the fields to choose the partition by"},
	} {
		_, err := Push(t.Context(), s, strings.NewReader("{}\n"), tc.options)
		_, made, _ := find(t.Context(), s, "r")
		if err == nil || !strings.Contains(err.Error(), tc.want) || made {
			t.Errorf("%+v: got %v, want %q; made it: %v", tc.options, err, tc.want, made)
		}
	}
}

// What is at hand is appended together; a slow writer's lines do not wait.
func TestLinesAreAppendedAsTheyCome(t *testing.T) {
	pushes := 0
	s := storetest.NewFaults(newQueue(t, 1), func(c storetest.Call) storetest.Fault {
		if c.Op == storetest.OpPushQueue {
			pushes++
		}
		return storetest.Fault{}
	})
	in, out := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := Push(t.Context(), s, in, PushOptions{Now: tick, Queue: "q"})
		done <- err
	}()
	for _, part := range []string{"{}\n", "{}\n{}\n", "{}\n{", "}\n"} {
		// A write returns when the reader has taken all; the next one is taken
		// when the lines before it are in the queue.
		if _, err := io.WriteString(out, part); err != nil {
			t.Fatal(err)
		}
	}
	out.Close()
	if err := <-done; err != nil || pushes != 4 || contents(t, s)[0] != "{} {} {} {} {}" {
		t.Errorf("%d pushes, %v", pushes, err)
	}
}

func TestALongTextIsPushedInParts(t *testing.T) {
	var sizes []int
	s := &countingStore{Store: newQueue(t, 1), sizes: &sizes}
	text := strings.Repeat("{}\n", 2500) + `{"long":"` + strings.Repeat("x", 3<<20) + "\"}\n{}"
	got, err := Push(t.Context(), s, strings.NewReader(text), PushOptions{Now: tick, Queue: "q"})
	if err != nil || got.Rows != 2502 || !slices.Equal(sizes, []int{1000, 1000, 500, 1, 1}) {
		t.Errorf("pushed %+v in parts of %v rows, %v", got, sizes, err)
	}
}

// countingStore notes how many rows each push has.
type countingStore struct {
	store.Store
	sizes *[]int
}

func (c *countingStore) PushQueue(ctx context.Context, rows []store.QueueAppend) error {
	*c.sizes = append(*c.sizes, len(rows))
	return c.Store.PushQueue(ctx, rows)
}

func TestALostOutcomeIsTold(t *testing.T) {
	m := newQueue(t, 1)
	s := storetest.NewFaults(m, func(c storetest.Call) storetest.Fault {
		if c.Op == storetest.OpPushQueue && c.Number == 2 {
			return storetest.Lost(true)
		}
		return storetest.Fault{}
	})
	got, err := Push(t.Context(), s, strings.NewReader(strings.Repeat("{}\n", 1300)), PushOptions{Now: tick, Queue: "q"})
	if !errors.Is(err, store.ErrUnknownOutcome) || got.Rows != 1000 || got.Unknown != 300 || !strings.Contains(err.Error(), "after 1000 rows") {
		t.Errorf("pushed %+v, %v", got, err)
	}
}

// A line goes to the partition that the sink would choose for a row of any
// columns that reads the line's values.
func TestPushAndSinkChooseTheSamePartition(t *testing.T) {
	cols := []schema.Column{
		{Name: "carrier", Type: schema.TypeString}, {Name: "delay", Type: schema.TypeInt64},
		{Name: "code", Type: schema.TypeUint64}, {Name: "late", Type: schema.TypeBoolean},
	}
	sc, err := schema.New(cols)
	if err != nil {
		t.Fatal(err)
	}
	by := []string{"late", "code", "carrier", "delay"}
	out, err := NewSink(connector.Setup{
		Parameters: parameters(t, `{path=q;partition_by=[late;code;carrier;delay]}`), Streams: flow.Streams{"s": sc},
	})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := storetest.NewModel()
		n := rapid.IntRange(1, 20).Draw(rt, "partitions")
		if err := s.CreateQueue(t.Context(), "q", n); err != nil {
			rt.Fatal(err)
		}
		row := schema.Row{
			schema.String(string(rapid.SliceOf(rapid.Byte()).Draw(rt, "carrier"))),
			schema.Int64(rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64()).Draw(rt, "delay")),
			schema.Uint64(rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(math.MaxInt64-2, math.MaxUint64)).Draw(rt, "code")),
			schema.Boolean(rapid.Bool().Draw(rt, "late")),
		}
		for i := range row {
			if rapid.IntRange(0, 4).Draw(rt, "null") == 0 {
				row[i] = schema.Null()
			}
		}
		if err := out.Attach(t.Context(), s); err != nil {
			rt.Fatal(err)
		}
		appended, err := out.Append(nil, flow.Message{Meta: flow.Meta{StreamID: "s"}, Payload: flow.NewPayload(sc, row)})
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := Push(t.Context(), s, strings.NewReader(string(appended[0].Value)), PushOptions{Now: tick, Queue: "q", By: by}); err != nil {
			rt.Fatal(err)
		}
		if got := contents(t, s)[appended[0].Partition]; got != string(appended[0].Value) {
			rt.Fatalf("the sink puts %s into partition %d, pushing does not", appended[0].Value, appended[0].Partition)
		}
	})
}

// However a text comes in, its lines are the rows.
func TestAnyTextIsCutIntoItsLines(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "with errors": iotest.DataErrReader,
		"whole": func(r io.Reader) io.Reader { return r },
	}
	rapid.Check(t, func(rt *rapid.T) {
		var text strings.Builder
		var want []string
		for i := range rapid.IntRange(0, 20).Draw(rt, "lines") {
			space := rapid.SampledFrom([]string{"", " ", "\t\r", "\r\n\n"})
			value := fmt.Sprintf(`{"n":%d}`, i)
			text.WriteString(space.Draw(rt, "before") + value + space.Draw(rt, "after") + "\n")
			want = append(want, value)
		}
		how := rapid.SampledFrom([]string{"bytes", "halves", "with errors", "whole"}).Draw(rt, "reader")
		whole := text.String()[:max(0, text.Len()-rapid.IntRange(0, 1).Draw(rt, "end"))]
		s := storetest.NewModel()
		got, err := Push(t.Context(), s, readers[how](strings.NewReader(whole)), PushOptions{Now: tick, Queue: "q"})
		if in := contents(t, s)[0]; err != nil || got.Rows != len(want) || in != strings.Join(want, " ") {
			rt.Fatalf("pushed %+v: %q, want %q (%v)", got, in, want, err)
		}
	})
}

func TestRowsReadOnToTheEnd(t *testing.T) {
	s := newQueue(t, 2)
	long := strings.Repeat("x", pageBytes/2)
	for i := range 5 {
		push(t, s, 1, fmt.Sprint(i)+long)
	}
	for _, tc := range []struct {
		from    uint64
		maxRows int
		want    string
	}{{0, 0, "01234"}, {3, 0, "34"}, {5, 0, ""}, {0, 3, "012"}, {1, 1, "1"}, {3, 9, "34"}} {
		got := ""
		for row, err := range Rows(t.Context(), s, store.QueueRequest{Queue: "q", Partition: 1, From: tc.from, MaxRows: tc.maxRows}) {
			if err != nil {
				t.Fatal(err)
			}
			got += string(row.Value[:1])
		}
		if got != tc.want {
			t.Errorf("from %d, at most %d: rows %s, want %s", tc.from, tc.maxRows, got, tc.want)
		}
	}
	for row, err := range Rows(t.Context(), s, store.QueueRequest{Queue: "r"}) {
		if !errors.Is(err, store.ErrNoQueue) {
			t.Errorf("row %v of no queue: %v", row, err)
		}
	}
	for row := range Rows(t.Context(), s, store.QueueRequest{Queue: "q", Partition: 1}) {
		if row.Offset > 0 {
			t.Error("goes on after a break")
		}
		break
	}
}

func TestConsumedIsTheSlowestConsumer(t *testing.T) {
	q := store.Queue{Consumers: []store.QueuePosition{
		{Consumer: "a", Partition: 0, Offset: 7}, {Consumer: "a", Partition: 1, Offset: 2}, {Consumer: "b", Partition: 0, Offset: 5},
	}}
	for partition, want := range []uint64{5, 2} {
		if got, ok := Consumed(q, partition); !ok || got != want {
			t.Errorf("partition %d is consumed up to %d, want %d", partition, got, want)
		}
	}
	if _, ok := Consumed(q, 2); ok {
		t.Error("a partition without consumers is consumed")
	}
}
