package engine

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// problemAt returns the problem at a path that begins and ends as given.
func (r *running) problemAt(begin, end string) *Problem {
	for _, p := range r.Problems() {
		if strings.HasPrefix(p.Path, begin) && strings.HasSuffix(p.Path, end) {
			return &p
		}
	}
	return nil
}

// TestProblemsShowWhereTheyAre: a failing job, a scan that fails, a disabled
// stream, each at its place in the tree, and no longer than they last.
func TestProblemsShowWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		var sour, blind atomic.Bool
		r.onMessage = func(flow.Message) error {
			if sour.Load() {
				return errors.New("sour milk")
			}
			return nil
		}
		p := r.start(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpListStates && blind.Load() {
				return storetest.Unavailable()
			}
			return storetest.Fault{}
		}))
		wait := func() { <-time.After(2 * time.Second) }
		wait()
		if got := p.Problems(); len(got) > 0 {
			t.Fatalf("problems of a healthy pipeline: %+v", got)
		}
		const at = "/computations/counter/partitions/"
		blind.Store(true)
		wait()
		if got := p.problemAt(at, "/key_visitor/sweep/background_fill"); got == nil || got.Warning {
			t.Errorf("a scan that fails shows as %+v in %+v", got, p.Problems())
		}
		blind.Store(false)
		p.must(p.set("enabled", "%false"))
		wait()
		if got := p.problemAt(at, "/key_visitor/sweep/disabled"); got == nil || !got.Warning || !strings.Contains(got.Message, "until the stream is enabled again") {
			t.Errorf("a disabled stream shows as %+v", got)
		}
		p.must(p.set("enabled", "%true"))
		wait()
		if got := p.Problems(); len(got) > 0 {
			t.Errorf("healed problems stay: %+v", got)
		}
		sour.Store(true)
		close(r.gate)
		wait()
		got := p.problemAt(at, "/job")
		if got == nil || got.Warning || !strings.Contains(got.Message, "sour milk") || !strings.Contains(got.Message, "failed") {
			t.Errorf("a failing job shows as %+v", got)
		}
		sour.Store(false)
		p.must(<-p.done)
		if got := p.Problems(); len(got) > 0 {
			t.Errorf("a completed pipeline has problems: %+v", got)
		}
	})
}

// TestNamesThatNoPassFindsAreAWarning: of the whole stream, after a whole pass
// (KV-2).
func TestNamesThatNoPassFindsAreAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		r.edit = func(text string) string {
			return strings.Replace(text, "key_visitor_streams = {sweep = {}}", `key_visitor_streams = {sweep = {names = ["/count"; "/cuont"]}}`, 1)
		}
		p := r.start(storetest.NewModel())
		<-time.After(time.Second)
		got := p.Problems()
		if len(got) != 1 || !got[0].Warning || got[0].Path != "/computations/counter/key_visitor/sweep/names" || !strings.Contains(got[0].Message, "/cuont") {
			t.Errorf("problems %+v, want a warning of /cuont", got)
		}
		if v := p.VisitStreams(); len(v) != 1 || len(v[0].NotFound) != 1 {
			t.Errorf("visit streams %+v", v)
		}
		p.pause()
	})
}

// TestCompletedPartitionsCountInTheMergedStatus: while the others work, and when
// all are, in a later run too, where their passes are read from the store.
func TestCompletedPartitionsCountInTheMergedStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 300, 30)
		s := storetest.NewModel()
		r.run(s)
		p := r.pipeline()
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		streams := p.VisitStreams()
		if len(streams) != 1 || len(streams[0].Parts) != 3 {
			t.Fatalf("visit streams %+v", streams)
		}
		if v := streams[0]; !v.Empty || !v.Final || v.Progress != 1 || v.Offered.Value != 0 || !v.Offered.Known {
			t.Errorf("the status of a completed stream: %+v", v.Status)
		}
		passes, err := p.Passes("counter", "sweep")
		if err != nil || len(passes) != 3 {
			t.Fatalf("passes %+v, %v", passes, err)
		}
		for _, part := range passes {
			if n := len(part.Passes); n == 0 || !part.Passes[n-1].Final || part.Passes[n-1].Delivered == 0 {
				t.Errorf("passes of partition %d: %+v", part.Partition, part.Passes)
			}
		}
	})
}
