package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// watchful notes the watermark that each message sees, and counts it.
type watchful struct {
	*countFunction
	mu   sync.Mutex
	seen map[int64]flow.Time // by value
}

func (f *watchful) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	f.mu.Lock()
	if at, ok := rt.MinWatermark(); ok {
		f.seen[m.Payload.Int64("value")] = at
	}
	f.mu.Unlock()
	return f.countFunction.OnMessage(ctx, rt, m, out)
}

// watched is a rig with settings for the reader's watermarks.
func watched(t *testing.T, n int, settings string) (*rig, *watchful) {
	r := newRig(t, n, 5)
	r.partitions = 1
	r.edit = edited(t, "watermark_strategy = {", "watermark_strategy = {"+settings+"; ")
	f := &watchful{countFunction: newCountFunction(r), seen: map[int64]flow.Time{}}
	r.function = func() flow.Function { return f }
	return r, f
}

// TestGeneratorKeepsWatermarksBehindByItsBound: what is late by less is not late.
func TestGeneratorKeepsWatermarksBehindByItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := watched(t, 400, `watermark_generator = {out_of_orderness_bound = "50s"}`)
		r.gate = make(chan struct{})
		time.AfterFunc(300*time.Millisecond, func() { close(r.gate) }) // for 398 and 399, when all else is handled
		r.run(storetest.NewModel())
		r.check()
		for value, at := range f.seen {
			if at > flow.Time(399-50)*flow.Time(time.Second) {
				t.Errorf("message %d saw the watermark %s, with the latest event at 399 s and a bound of 50 s", value, at)
			}
		}
		if at := f.seen[399]; at < flow.Time(396-50)*flow.Time(time.Second) {
			t.Errorf("the last message saw the watermark %s, with events up to 396 s handled and a bound of 50 s", at)
		}
	})
}

// TestSourcesHaveWatermarksOfTheirOwn: what the source says of rows to come, whatever
// those that came say, and after restarts too; a source that says nothing is refused.
func TestSourcesHaveWatermarksOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := watched(t, 400, `watermark_generator = {use_source_watermark = %true}`)
		if _, err := r.prepare(r.edit(fmt.Sprintf(rigSpec, 1, "", "1s"))); err == nil || !strings.Contains(err.Error(), "the source memory has no watermarks of its own here") {
			t.Errorf("error %v", err)
		}
		r.timed = true
		r.gate = make(chan struct{})
		s := storetest.NewModel()
		life, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, _ = r.pipeline().Run(life, s)
		cancel()
		time.AfterFunc(300*time.Millisecond, func() { close(r.gate) }) // for 398 and 399, when all else is handled
		r.run(s)
		r.check()
		for value, at := range f.seen {
			if at > flow.Time(value)*flow.Time(time.Second) {
				t.Errorf("message %d saw the watermark %s, which it is before", value, at)
			}
		}
		if at := f.seen[399]; at < flow.Time(398)*flow.Time(time.Second) {
			t.Errorf("the last message saw the watermark %s, and the source said 398 s", at)
		}
	})
}

// TestQuietPartitionsDoNotFreezeThePipeline: the last row of one partition does not
// come, or its job fails again and again, and timers of the others fire; without the
// settings they wait.
func TestQuietPartitionsDoNotFreezeThePipeline(t *testing.T) {
	const none = `watermark_generator = {out_of_orderness_bound = 0}`
	const idle = `watermark_generator = {out_of_orderness_bound = 0; idle_partitions = {duration = "10s"; max_ratio = 0.5}}`
	for name, c := range map[string]struct {
		settings string
		dead     string // the partition that never starts
		fires    bool
	}{
		"held for ever":            {none, "", false},
		"idle after 10 s":          {idle, "", true},
		"held by one that is dead": {none, "0", false},
		"dead and idle after 10 s": {idle, "0", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := timerRig(t, 0, 0, "streams = [rows]")
				r.period = "10s"
				timers := r.edit
				r.edit = func(text string) string {
					return edited(t, "watermark_strategy = {", "watermark_strategy = {"+c.settings+"; ")(timers(text))
				}
				row := func(at int64) schema.Row { return schema.Row{schema.String("k"), schema.Int64(at), schema.Int64(at)} }
				r.rows = [][]schema.Row{{row(1)}, {row(1), row(100)}} // the last of each comes when the gate opens
				r.gate, r.dead = make(chan struct{}), c.dead
				p := r.pipeline()
				time.AfterFunc(5*time.Second, func() { r.gate <- struct{}{} }) // for one of them
				fired := func() (n uint64) { return p.Status().Timers }
				time.AfterFunc(time.Minute, func() {
					if got := fired() > 0; got != c.fires {
						t.Errorf("after a minute timers fired: %v, want %v", got, c.fires)
					}
					p.Pause()
				})
				if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestAlignedSourcesWaitForEachOther: one that reads old rows holds the other back,
// until it has ended; the status says who waits.
func TestAlignedSourcesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := watched(t, 0, `watermark_alignment = {drift_bound = "100s"}`)
		r.edit = func(edit func(string) string) func(string) string {
			return func(text string) string {
				return strings.Replace(edit(text), "max_rows_per_batch = 37", "max_rows_per_batch = 10", 1)
			}
		}(r.edit)
		rows := func(n int, every int64) (out []schema.Row) {
			for i := range n {
				out = append(out, schema.Row{schema.String("k"), schema.Int64(int64(i)), schema.Int64(int64(i) * every)})
			}
			return out
		}
		r.rows = [][]schema.Row{rows(50, 1), rows(1000, 100)}
		r.gate = make(chan struct{})
		p := r.pipeline()
		time.AfterFunc(time.Second, func() {
			var fast, slow uint64
			for _, s := range p.Status().Partitions {
				if s.Computation == "reader" {
					fast, slow = max(fast, s.Totals.Messages), max(slow, min(s.Totals.Messages, 50))
				}
			}
			if fast > 100 {
				t.Errorf("the source ahead took %d rows", fast)
			}
			problems := ""
			for _, problem := range p.Problems() {
				problems += problem.Path + ": " + problem.Message + "\n"
			}
			if !strings.Contains(problems, "/watermark_alignment: it is at 1970-01-01T00:1") {
				t.Errorf("problems: %s", problems)
			}
			close(r.gate)
		})
		sum, err := p.Run(t.Context(), storetest.NewModel())
		if err != nil || !sum.Completed || sum.Messages != 1050 {
			t.Errorf("%+v, error %v", sum, err)
		}
	})
}
