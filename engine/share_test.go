package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// spending is the counting function with handlers that take time; it adds up how
// long each kind took while both had work.
type spending struct {
	*countFunction
	message, visit time.Duration
	on             *atomic.Bool // whether time counts
	messages       *time.Duration
	visits         map[string]time.Duration
	keys           *int // that are still to be made, at no cost
}

func (f spending) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	if *f.keys > 0 {
		*f.keys--
	} else {
		<-time.After(f.message)
	}
	if f.on.Load() {
		*f.messages += f.message
	}
	return f.countFunction.OnMessage(ctx, rt, m, out)
}

func (f spending) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	<-time.After(f.visit)
	if f.on.Load() {
		f.visits[v.StreamID] += f.visit
	}
	return f.countFunction.OnVisit(ctx, rt, v, out)
}

// measure runs a partition whose messages and visits always wait, and returns
// what messages and each visit stream took in ten seconds. A pass has more keys
// than are visited meanwhile: between two passes no visit waits.
func measure(t *testing.T, share float64, message, visit time.Duration, streams ...string) (messages time.Duration, visits map[string]time.Duration) {
	enough := func(cost time.Duration, share float64) int { return 500 + int(1.3*11*share/cost.Seconds()) }
	keys := enough(visit, share)
	r := newRig(t, keys+enough(message, 1-share), keys)
	r.partitions, r.period = 1, "10ms"
	r.edit = func(text string) string {
		var static, dynamic []string
		for _, s := range streams {
			static = append(static, s+" = {}")
			dynamic = append(dynamic, fmt.Sprintf(`%s = {visit_share = %g; period = "10ms"}`, s, share))
		}
		text = strings.Replace(text, "{sweep = {}}", "{"+strings.Join(static, ";")+"}", 1)
		text = strings.Replace(text, "counts = [sweep]", "counts = ["+strings.Join(streams, ";")+"]", 1)
		return strings.Replace(text, `sweep = {period = "10ms"}`, strings.Join(dynamic, ";"), 1)
	}
	var on atomic.Bool
	visits = map[string]time.Duration{}
	r.function = func() flow.Function {
		return spending{newCountFunction(r), message, visit, &on, &messages, visits, &keys}
	}
	p := r.start(storetest.NewModel())
	<-time.After(time.Second) // until every stream has visits
	on.Store(true)
	<-time.After(10 * time.Second)
	on.Store(false)
	p.pause()
	return messages, visits
}

// TestVisitsGetTheirShare: while messages wait, visits that wait too get
// visit_share of the processing time, not less and not more, whatever handlers
// cost (KV-30).
func TestVisitsGetTheirShare(t *testing.T) {
	for _, share := range []float64{0.05, 0.25, 0.9} {
		for _, cost := range [][2]time.Duration{{time.Millisecond, time.Millisecond}, {200 * time.Microsecond, 5 * time.Millisecond}, {20 * time.Millisecond, time.Millisecond}} {
			t.Run(fmt.Sprintf("share %g, messages take %s, visits %s", share, cost[0], cost[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					messages, visits := measure(t, share, cost[0], cost[1], "sweep")
					got := visits["sweep"].Seconds() / (visits["sweep"] + messages).Seconds()
					if got < share-0.03 || got > share+0.03 {
						t.Errorf("visits took %s, messages %s: %.3f of the time, want %g", visits["sweep"], messages, got, share)
					}
				})
			})
		}
	}
}

// TestVisitStreamsShareFairly: two streams beside messages get as much each, and
// their share together (KV-30).
func TestVisitStreamsShareFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		messages, visits := measure(t, 0.4, time.Millisecond, time.Millisecond, "mop", "sweep")
		all := visits["mop"] + visits["sweep"]
		if got := all.Seconds() / (all + messages).Seconds(); got < 0.37 || got > 0.43 {
			t.Errorf("visits got %.3f of the time, want 0.4", got)
		}
		if a, b := visits["mop"].Seconds(), visits["sweep"].Seconds(); a < 0.9*b || b < 0.9*a {
			t.Errorf("visits by stream: %v", visits)
		}
	})
}

// TestAnEpochOfVisitsIsCut between two visits, by its time and by the size of its
// output (D-20, KV-30): a commit comes when it must, and no later than one visit
// after.
func TestAnEpochOfVisitsIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		dynamic string
		visit   time.Duration
		most    int // messages of one commit
	}{
		"by time":   {`max_epoch_duration = "100ms";`, 15 * time.Millisecond, 7},
		"by output": {`max_bytes_per_batch = 200;`, 0, 12},
		"by count":  {`max_rows_per_batch = 12;`, 0, 12},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 1000, 500)
				r.partitions, r.period, r.dynamic = 1, "1h", c.dynamic
				var last time.Time
				r.function = func() flow.Function { return slowVisits{newCountFunction(r), c.visit, &last} }
				most, epochs := 0, 0
				p := r.start(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
					if c.Op == storetest.OpCommit && c.Commit.Computation == "counter" && len(c.Commit.Produced) > 0 {
						epochs++
						most = max(most, c.Commit.Produced[0].Count)
					}
					return storetest.Fault{}
				}))
				p.visits(time.Second)
				p.must(p.RunNow(t.Context(), "counter", "sweep", 0))
				if n := p.visits(time.Minute); n < 490 {
					t.Errorf("%d visits", n)
				}
				if most > c.most || most < 2 || epochs < 500/c.most {
					t.Errorf("%d epochs with up to %d visits, want up to %d", epochs, most, c.most)
				}
				p.pause()
			})
		})
	}
}

// TestTheLimitOfVisitsIsShared over the partitions, and follows a change at once.
func TestTheLimitOfVisitsIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000, 1000)
		r.partitions, r.period = 7, "1s"
		p := r.start(storetest.NewModel())
		for _, limit := range []int{40, 200, 7} {
			p.must(p.set("max_visits_per_second", fmt.Sprint(limit)))
			p.visits(5 * time.Second)
			if n := p.visits(time.Minute); n < 57*limit || n > 61*limit+7 {
				t.Errorf("%d visits in a minute at %d per second", n, limit)
			}
		}
		p.must(p.set("max_visits_per_second", "#"))
		p.visits(5 * time.Second)
		if n := p.visits(10 * time.Second); n < 8*1000 {
			t.Errorf("%d visits in 10 s without a limit", n)
		}
		p.pause()
	})
}
