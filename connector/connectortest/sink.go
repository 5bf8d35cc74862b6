package connectortest

import (
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
)

// SinkTarget is a place that a sink writes to.
type SinkTarget struct {
	// New returns the sink, as a new process makes it.
	New func() connector.Sink
	// Message returns the i-th message, and Want what it looks like at the
	// target.
	Message func(i int) flow.Message
	Want    func(i int) string
	// Content returns what is at the target, one string for each message.
	Content func() ([]string, error)
}

// Sink checks a sink with a fresh target for each case: nothing that was
// recorded is lost, nothing that was not is kept, and nothing comes twice.
func Sink(t *testing.T, fresh func(t *testing.T) SinkTarget) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*run)
	}{
		{"writes what it is given, in order", (*run).writes},
		{"goes on where it was", (*run).goesOn},
		{"removes what was written and not recorded", (*run).removesUnrecorded},
		{"removes what was written before the first position was recorded", (*run).removesAtStart},
		{"refuses a target that lost recorded rows", (*run).refusesOlder},
		{"has one writer at a time", (*run).oneWriter},
		{"takes no messages at all", (*run).nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(&run{t: t, SinkTarget: fresh(t)})
		})
	}
}

// run is one case: recorded is the position that the pipeline's store has, next
// the number of the next message, and kept the messages that must be there.
type run struct {
	t *testing.T
	SinkTarget
	writer   connector.Writer
	recorded []byte
	next     int
	kept     []string
}

// open starts a writer and records where it starts.
func (r *run) open() {
	r.t.Helper()
	w, start, err := r.New().Open(r.t.Context(), r.recorded)
	if err != nil {
		r.t.Fatalf("open at %q: %v", r.recorded, err)
	}
	r.writer, r.recorded = w, start
}

// write writes n messages and records them or, as if the process died before
// that, does not.
func (r *run) write(n int, record bool) {
	r.t.Helper()
	var messages []flow.Message
	var want []string
	for range n {
		messages, want = append(messages, r.Message(r.next)), append(want, r.Want(r.next))
		r.next++
	}
	position, err := r.writer.Write(r.t.Context(), messages)
	if err != nil {
		r.t.Fatalf("write: %v", err)
	}
	if record {
		r.recorded, r.kept = position, append(r.kept, want...)
	}
}

func (r *run) close() {
	r.t.Helper()
	closeIt(r.t, r.writer)
}

// check opens the sink once more, which brings the target in order, and
// compares what is there.
func (r *run) check() {
	r.t.Helper()
	r.open()
	r.close()
	got, err := r.Content()
	if err != nil {
		r.t.Fatal(err)
	}
	if !slices.Equal(got, r.kept) {
		r.t.Errorf("the target holds\n%q\nwant\n%q", got, r.kept)
	}
}

func (r *run) writes() {
	r.open()
	for _, n := range []int{1, 3, 2} {
		r.write(n, true)
	}
	r.close()
	r.check()
}

func (r *run) goesOn() {
	for _, n := range []int{2, 1, 4} {
		r.open()
		r.write(n, true)
		r.close()
	}
	r.check()
}

func (r *run) removesUnrecorded() {
	r.open()
	r.write(2, true)
	r.write(3, false)
	r.close()
	r.check()
	r.open()
	r.write(1, true)
	r.close()
	r.check()
}

func (r *run) removesAtStart() {
	r.open()
	r.write(2, false)
	r.close()
	r.check()
	r.open()
	r.write(2, true)
	r.close()
	r.check()
}

func (r *run) refusesOlder() {
	r.open()
	r.write(2, true)
	older := r.recorded
	r.write(2, true)
	r.close()
	newer := r.recorded
	r.recorded = older
	r.open() // cuts back
	r.close()
	if w, _, err := r.New().Open(r.t.Context(), newer); err == nil {
		closeIt(r.t, w)
		r.t.Error("opened at a position that the target does not reach")
	}
}

func (r *run) oneWriter() {
	r.open()
	r.write(1, true)
	if w, _, err := r.New().Open(r.t.Context(), r.recorded); err == nil {
		closeIt(r.t, w)
		r.t.Error("opened while another writer is at work")
	}
	r.write(1, true)
	r.close()
	r.check()
}

func (r *run) nothing() {
	r.open()
	r.write(0, true)
	r.write(1, true)
	r.write(0, true)
	r.close()
	r.check()
}
