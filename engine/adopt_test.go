package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestSpecAndDataMustFit: what a changed spec may change while there is data, and
// what it says otherwise (design: specs).
func TestSpecAndDataMustFit(t *testing.T) {
	group := `group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(key)"}; {name=key;type=string}]`
	for _, c := range []struct {
		name, old, new string
		want           []string // parts of the error; none: it runs
	}{
		{"another period", "20ms", "30ms", nil},
		{"another batch size", "max_rows_per_batch = 37", "max_rows_per_batch = 38", nil},
		{"another visit stream", "sweep", "mop", nil},
		{"another name", "{ spec", "{ name = other; spec", []string{`belongs to pipeline rig, not other`, "--data"}},
		{"another partition count", "desired_partition_count = 3", "desired_partition_count = 4", nil},
		{"another key", group, strings.Replace(group, "farm_hash(key)", "farm_hash(key, 1)", 1), []string{"counter.group_by_schema has changed", "undo these changes"}},
		{"another type", "{name=count;type=int64}", "{name=count;type=uint64}", []string{"spec.streams.counts.schema has changed"}},
		{"no sink", `;
      sinks = {out = {sink_class_name = memory; input_stream_ids = [counts]}}`, "", []string{"counter.sinks has changed"}},
		{"another sink parameter", "sink_class_name = memory;", "sink_class_name = memory; parameters = {format = csv};", []string{"counter.sinks has changed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 60, 10)
			s := storetest.NewModel()
			p := r.pipeline()
			r.onMessage = func(flow.Message) error { p.Pause(); return nil }
			if _, err := p.Run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			r.onMessage = nil
			r.edit = func(text string) string {
				if !strings.Contains(text, c.old) {
					t.Fatalf("the spec has no %q", c.old)
				}
				return strings.ReplaceAll(text, c.old, c.new)
			}
			if c.want == nil {
				r.run(s)
				r.check()
				return
			}
			before, _ := s.Pipeline(t.Context())
			_, err := r.pipeline().Run(t.Context(), s)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want it to say %q", err, want)
				}
			}
			if after, _ := s.Pipeline(t.Context()); !after.Equal(before) {
				t.Errorf("refused, but the stored pipeline changed")
			}
		})
	}
}

// TestSetDynamicSpecWinsUntilTheFileChanges: a file's dynamic spec replaces the
// stored one only if it differs from the one that was loaded last.
func TestSetDynamicSpecWinsUntilTheFileChanges(t *testing.T) {
	r := newRig(t, 60, 10)
	s := storetest.NewModel()
	p := r.pipeline()
	p.Pause()
	if _, err := p.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Pipeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored.Dynamic = strings.ReplaceAll(stored.Dynamic, "20ms", "7h")
	if err := s.SavePipeline(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	period := func() time.Duration {
		p := r.pipeline()
		p.Pause()
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return p.env.orders.Load().of(p.plan.node("counter")).VisitStream("sweep").Period
	}
	if got := period(); got != 7*time.Hour {
		t.Errorf("period %s, want the one that was set", got)
	}
	r.period = "30ms"
	if got := period(); got != 30*time.Millisecond {
		t.Errorf("period %s, want the changed file's", got)
	}
}

func TestWhatWasSetAndIsDroppedIsNamed(t *testing.T) {
	const loaded = `{a={period="2s";rows=1;"x.y"=1};b={rows=4}}`
	for _, c := range []struct{ set, file, want string }{
		{loaded, `{a={period="9s"}}`, ""}, // nothing was set
		{`{a={period="7h";rows=1;"x.y"=1};b={rows=4}}`, `{a={period="2s";rows=2;"x.y"=1};b={rows=4}}`, `a.period="7h"`},
		{`{a={period="7h";rows=1;"x.y"=1};b={rows=4}}`, `{a={period="7h"}}`, ""}, // the file says the same
		{`{a={period="2s";rows=1;"x.y"=3};b={}}`, `{a={};b={rows=4}}`, `a."x.y"=3; b.rows=#`},
		{`{a={period="2s";rows=1;"x.y"=1};b={rows=4};c={d={e=%true}}}`, `{}`, `c.d.e=%true`},
	} {
		if got := strings.Join(dropped(loaded, c.set, c.file), "; "); got != c.want {
			t.Errorf("set %s, then the file %s: dropped %s, want %s", c.set, c.file, got, c.want)
		}
	}
}

// TestNewSourcePartitionsAreRead: what a source finds at a later start is read
// too, while its consumers run; what it has not read to the end must not go away.
func TestNewSourcePartitionsAreRead(t *testing.T) {
	r := newRig(t, 300, 10)
	all := r.rows
	pauseAtOnce := func(s store.Store) {
		p := r.pipeline()
		r.onMessage = func(flow.Message) error { p.Pause(); return nil }
		if _, err := p.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		r.onMessage = nil
	}
	s := storetest.NewModel()
	r.rows = all[:1]
	pauseAtOnce(s)
	r.rows = all
	r.run(s)
	r.check()

	_, err := r.with(all[:1]).pipeline().Run(t.Context(), s)
	if err != nil {
		t.Errorf("a source partition that was read to the end may go: %v", err)
	}
	_, err = r.with(append(all, all[0])).pipeline().Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "reader finds [memory/2] to read, but computation counter is completed") {
		t.Errorf("error %v for a new partition of a completed pipeline", err)
	}

	s = storetest.NewModel()
	r.sink = &memorySink{}
	r.with(all).gate = make(chan struct{}) // no partition is read to its end
	pauseAtOnce(s)
	_, err = r.with(all[:1]).pipeline().Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "no longer finds [memory/1], which it has not read to the end: put it back") {
		t.Errorf("error %v for a partition that is gone", err)
	}
}

func (r *rig) with(rows [][]schema.Row) *rig {
	r.rows = rows
	return r
}

func TestTwoSinksWithOneTargetAreRefused(t *testing.T) {
	r := newRig(t, 1, 1)
	text := fmt.Sprintf(rigSpec, 1, "", "1s")
	text = strings.Replace(text, "sinks = {", "sinks = {again = {sink_class_name = memory; input_stream_ids = [counts]}; ", 1)
	_, err := r.prepare(text)
	if err == nil || !strings.Contains(err.Error(), "spec.computations.counter.sinks.out: it writes memory, as does spec.computations.counter.sinks.again") {
		t.Errorf("error %v", err)
	}
}

// TestDependenciesOfACompletedStreamCannotChange: its readers are gone, and what
// is emitted later would be lost.
func TestDependenciesOfACompletedStreamCannotChange(t *testing.T) {
	synctest.Test(t, testDependenciesOfACompletedStream)
}

func testDependenciesOfACompletedStream(t *testing.T) {
	r := newRig(t, 60, 10)
	r.period = "1h"
	silent := func(text string) string {
		text = strings.Replace(text, "counts = [sweep]", "counts = [rows]", 1)
		return strings.Replace(text, `sweep = {period`, `sweep = {final_pass_period = "1h"; period`, 1)
	}
	r.edit = silent
	r.function = func() flow.Function { return quiet{newCountFunction(r)} }
	s := storetest.NewModel()
	p := r.pipeline()
	time.AfterFunc(time.Minute, func() {
		if !sinkCompleted(p.Status()) {
			t.Error("the sink is not completed, though nothing depends on the visits")
		}
		p.Pause()
	})
	if _, err := p.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r.edit, r.function = nil, nil
	_, err := r.pipeline().Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "spec.computations.counter.streams_dependency.counts has changed, but the stream is completed") {
		t.Errorf("error %v, want the change refused", err)
	}
}

func sinkCompleted(s Status) bool {
	return slices.ContainsFunc(s.Partitions, func(p PartitionStatus) bool {
		return p.Kind == store.SinkPartition && p.Phase == Done
	})
}

// quiet counts, and emits nothing on visits.
type quiet struct{ row *countFunction }

func (q quiet) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return q.row.OnMessage(ctx, rt, m, out)
}
