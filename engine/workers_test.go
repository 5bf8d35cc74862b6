package engine

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"golang.org/x/sync/errgroup"
)

// crew is two workers on one store, which beat every two seconds. owner says who runs
// a partition.
type crew struct {
	store.Store
	owner func(*store.Partition) string
	mu    sync.Mutex
	hands []*mate
	lease store.Lease
}

func (c *crew) Partitions(ctx context.Context) ([]store.Partition, error) {
	parts, err := c.Store.Partitions(ctx)
	for i := range parts {
		parts[i].Worker = c.owner(&parts[i])
	}
	return parts, err
}

// mate is the place of one of them.
type mate struct {
	*crew
	id      string
	say     func() []byte
	told    []byte
	view    *store.View
	changed chan struct{}
}

func (h *mate) Worker() string { return h.id }
func (h *mate) Now() int64     { return time.Now().UnixNano() }
func (h *mate) Lacks([]Lack)   {}

func (h *mate) Stranded([]store.Partition) map[string]string { return nil }

func (h *mate) View() (*store.View, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view, h.changed
}

func (h *mate) Tell(say func() []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.say = say
}

func (h *mate) Hear(context.Context) (*Heard, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := &Heard{Now: h.Now(), Layout: 1, Assignment: 1, Pipeline: h.view.Pipeline, Told: map[string][]byte{}}
	for _, other := range h.hands {
		out.Told[other.id] = other.told
	}
	return out, nil
}

func (h *mate) beat(unfinished int, pipeline uint64) {
	h.mu.Lock()
	say := h.say
	h.mu.Unlock()
	var told []byte
	if say != nil {
		told = say()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = told
	if h.view.Unfinished != unfinished || h.view.Pipeline != pipeline {
		h.view = &store.View{Layout: 1, Assignment: 1, Unfinished: unfinished, Pipeline: pipeline, Lease: h.lease}
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// run has the pipeline run by two workers until it is completed.
func (c *crew) run(t *testing.T, prepare func() *Pipeline, shown func(a, b *Pipeline)) (a, b *Summary) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := prepare().Submit(ctx, c.Store); err != nil {
		t.Fatal(err)
	}
	var sums [2]*Summary
	var pipelines [2]*Pipeline
	var working errgroup.Group
	for i, id := range []string{"a", "b"} {
		h := &mate{crew: c, id: id, view: &store.View{Layout: 1, Assignment: 1, Unfinished: 1}, changed: make(chan struct{})}
		c.hands = append(c.hands, h)
		pipelines[i] = prepare()
		pipelines[i].opts.Member = h
	}
	for i := range pipelines {
		working.Go(func() (err error) {
			sums[i], err = pipelines[i].Run(ctx, c)
			return err
		})
	}
	over := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { c.beats(ctx, over) })
	if shown != nil {
		shown(pipelines[0], pipelines[1])
	}
	if err := working.Wait(); err != nil {
		t.Error(err)
	}
	close(over)
	beating.Wait()
	return sums[0], sums[1]
}

func (c *crew) beats(ctx context.Context, over <-chan struct{}) {
	for {
		parts, err := c.Store.Partitions(ctx)
		unfinished := 0
		for _, p := range parts {
			if p.State != store.Completed {
				unfinished++
			}
		}
		stored, failed := c.Store.Pipeline(ctx)
		for _, h := range c.hands {
			if err == nil && failed == nil {
				h.beat(unfinished, stored.Version)
			}
		}
		select {
		case <-over:
			return
		case <-time.After(2 * time.Second):
		}
	}
}

// partedSink is a sink for several workers, one after the other, whose parts are one.
type partedSink struct{ *memorySink }

func (s partedSink) OpenPart(ctx context.Context, _ string, former []byte) (connector.Writer, []byte, error) {
	return s.Open(ctx, former)
}

func (partedSink) Part([]byte) (string, bool, error) { return "all", true, nil }

// prepared prepares the pipeline of a rig anew for each worker.
func (r *rig) prepared(text string) func() *Pipeline {
	return func() *Pipeline {
		r.t.Helper()
		p, err := r.prepare(text)
		if err != nil {
			r.t.Fatal(err)
		}
		return p
	}
}

// taken counts the messages that partitions of a computation have taken.
func taken(p *Pipeline, computation string) (n uint64) {
	for _, s := range p.Status().Partitions {
		if s.Computation == computation {
			n = max(n, s.Totals.Messages)
		}
	}
	return n
}

// TestAlignedSourcesOnTwoWorkersWaitForEachOther: the one ahead goes on as the other
// does, no further than the drift, and alone once the other has ended.
func TestAlignedSourcesOnTwoWorkersWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := watched(t, 0, `watermark_alignment = {drift_bound = "100s"}`)
		r.period, r.shared = "10s", true
		rows := func(n int, every int64) (out []schema.Row) {
			for i := range n {
				out = append(out, schema.Row{schema.String("k"), schema.Int64(int64(i)), schema.Int64(int64(i) * every)})
			}
			return out
		}
		r.rows = [][]schema.Row{rows(500, 1), rows(1000, 100)}
		r.gate = make(chan struct{})
		c := &crew{Store: storetest.NewModel(), owner: func(p *store.Partition) string {
			if p.Name == "memory/1" {
				return "b"
			}
			return "a"
		}}
		edit := r.edit
		r.edit = func(text string) string {
			return strings.Replace(edit(text), "max_rows_per_batch = 37", "max_rows_per_batch = 1", 1)
		}
		_, b := c.run(t, r.pipeline, func(_, b *Pipeline) {
			time.AfterFunc(10*time.Second, func() {
				// The other is at 498 s, and what is at 598 s or before may be read: 0, 100, … 500,
				// and the row that goes beyond.
				if n := taken(b, "reader"); n != 7 {
					t.Errorf("the source ahead took %d rows, want 7", n)
				}
				close(r.gate)
			})
		})
		if b == nil || !b.Completed || b.Messages != 1500 {
			t.Errorf("%+v", b)
		}
	})
}

// TestASourceStaysBehindAStreamOfAnotherWorker, which is an output of a computation, or
// its own.
func TestASourceStaysBehindAStreamOfAnotherWorker(t *testing.T) {
	for _, stream := range []string{"rows", `"reader/memory"`} {
		t.Run(stream, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 5)
				r.gate = make(chan struct{})
				r.functions = map[string]flow.Function{"by_visit": newPinging(false)}
				text := graphSpec(strings.Replace(delayedSpec, `rows = "10s"`, stream+` = "10s"`, 1), "late = {max_rows_per_batch = 10};")
				c := &crew{Store: storetest.NewModel(), owner: func(p *store.Partition) string {
					return map[bool]string{true: "b", false: "a"}[p.Computation == "late"]
				}}
				_, b := c.run(t, r.prepared(text), func(_, b *Pipeline) {
					time.AfterFunc(10*time.Second, func() {
						if n := taken(b, "late"); n != 40 {
							t.Errorf("a partition took %d rows, want 40", n)
						}
						close(r.gate)
					})
				})
				if b == nil || !b.Completed {
					t.Errorf("%+v", b)
				}
			})
		})
	}
}

// TestASourceOfAnotherWorkerThatIsHeldBackIsNotIdle, and one that is not is idle soon.
func TestASourceOfAnotherWorkerThatIsHeldBackIsNotIdle(t *testing.T) {
	for name, held := range map[string]bool{`read_delays = {rows = "10s"}`: true, ``: false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 5)
				r.gate = make(chan struct{})
				r.functions = map[string]flow.Function{"by_visit": newPinging(false)}
				text := graphSpec(strings.Replace(delayedSpec, `watermark_alignment = {drift_bound = "1h"; read_delays = {rows = "10s"}}`,
					`watermark_generator = {out_of_orderness_bound = 0; idle_partitions = {duration = "1s"; max_ratio = 1}}; watermark_alignment = {drift_bound = "1h"; `+name+`}`, 1),
					"late = {max_rows_per_batch = 10};")
				text = strings.Replace(text, "input_stream_ids = [rows; copies]", "input_stream_ids = [copies]", 1)
				c := &crew{Store: storetest.NewModel(), owner: func(p *store.Partition) string {
					return map[bool]string{true: "b", false: "a"}[p.Computation == "late"]
				}}
				_, b := c.run(t, r.prepared(text), func(a, _ *Pipeline) {
					time.AfterFunc(time.Minute, func() {
						for _, s := range a.Status().Partitions {
							for _, out := range s.Watermarks {
								if out.Stream == "pings" && (out.Watermark < int64(time.Hour)) != held {
									t.Errorf("after a minute %s is at %s", s.Computation, flow.Time(out.Watermark))
								}
							}
						}
						close(r.gate)
					})
				})
				if b == nil || !b.Completed {
					t.Errorf("%+v", b)
				}
			})
		})
	}
}

// TestSystemTimersWaitForEarlierMessagesOfOtherWorkers: as on one worker, through faults
// of the store, and all that are set fire before the input ends.
func TestSystemTimersWaitForEarlierMessagesOfOtherWorkers(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			r := timerRig(t, 800, 7, "time_type = system_time")
			r.partitions, r.period, r.shared = 2, "1s", true
			input := newDawdling(800, 20*time.Millisecond) // for several beats
			r.functions = map[string]flow.Function{"dawdle": input}
			edit := r.edit
			r.edit = func(text string) string {
				text = relayed(t, "computation_class_name = transform; processing_function = dawdle")(edit(text))
				return edited(t, "counter = {desired", "relay = {desired_partition_count = 2}; counter = {desired")(text)
			}
			r.function = func() flow.Function {
				return newAnswering(r, time.Duration(seed%2)*time.Millisecond, input)
			}
			r.gate = make(chan struct{})
			faults := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
				if seed == 0 {
					return storetest.Fault{}
				}
				return someFault(rng, c)
			})
			c := &crew{Store: faults, owner: func(p *store.Partition) string {
				return map[bool]string{true: "b", false: "a"}[p.Computation == "relay"]
			}}
			_, b := c.run(t, r.pipeline, func(a, _ *Pipeline) {
				defer close(r.gate) // the last row of either partition of the source waits for it
				for late := time.After(5 * time.Minute); a.Status().Timers < 798; {
					select {
					case <-late:
						t.Errorf("seed %d: %d timers fire while the input goes on, want 798", seed, a.Status().Timers)
						return
					case <-time.After(time.Second):
					}
				}
			})
			r.check()
			if b == nil || b.Timers != 800 || b.Counts["disorder"] > 0 || b.Counts["early"] > 0 {
				t.Errorf("seed %d: %+v; want 800 timers, in order and not before their time", seed, b)
			}
		})
	}
}
