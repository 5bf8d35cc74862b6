package visit

import (
	"slices"
	"testing"
	"time"
)

const tick50 = 50 * time.Millisecond

// signal reports the upstreams as completed.
func (r *rig) signal() { r.v.UpstreamCompleted(r.now, true) }

// reconfigure changes parameters, which must be valid.
func (r *rig) reconfigure(t *testing.T, change func(p *Params)) {
	t.Helper()
	change(&r.params)
	if err := r.v.Reconfigure(r.now, r.params); err != nil {
		t.Fatal(err)
	}
}

func TestFinalCases(t *testing.T) {
	endless := func(_ *Config, p *Params) { p.Finite = false }
	t.Run("FIN-01 a stream that is not finite ignores completion", func(t *testing.T) {
		r := newRig(spaced(10, 20), endless)
		r.signal()
		want(t, "visits", len(r.drain(6, 100, tick50)), 6)
		want(t, "empty", r.v.Empty(), false)
	})
	t.Run("FIN-04 completion before anything was read finalises the running pass", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil)
		r.v.Drain(r.now, true)
		r.signal()
		r.v.Drain(r.now, false)
		want(t, "visits", hashes(r.drain(2, 100, tick50)), "10 20")
		want(t, "empty", r.v.Empty(), true)
		want(t, "more", len(r.polls(10, tick50)), 0)
	})
	t.Run("FIN-06 a full final pass is waived", func(t *testing.T) {
		r := newRig(spaced(5, 40), func(_ *Config, p *Params) { p.FullFinalPass = false })
		r.drain(1, 1, tick50)
		r.signal()
		r.drain(7, 100, tick50)
		want(t, "empty", r.v.Empty(), true)
		want(t, "more", len(r.polls(10, tick50)), 0)
		want(t, "visits", hashes(r.visits), k8)
	})
	t.Run("FIN-08 a running scanner becomes finite", func(t *testing.T) {
		r := newRig(spaced(10, 20), endless)
		r.signal()
		r.drain(4, 100, tick50)
		want(t, "empty before", r.v.Empty(), false)
		r.reconfigure(t, func(p *Params) { p.Finite = true })
		r.signal()
		r.polls(10, tick50)
		want(t, "empty after", r.v.Empty(), true)
	})
	t.Run("FIN-08 the completion need not be reported again", func(t *testing.T) {
		r := newRig(spaced(10, 20), endless)
		r.signal()
		r.drain(4, 100, tick50)
		r.tick(100 * time.Hour)
		r.reconfigure(t, func(p *Params) { p.Finite = true })
		r.polls(10, tick50)
		want(t, "empty after", r.v.Empty(), true)
	})
	t.Run("FIN-12 every key is visited before Empty", func(t *testing.T) {
		r := newRig(spaced(5, 40), buckets(2))
		r.signal()
		for i := 0; i < 100 && !r.v.Empty(); i++ {
			r.polls(1, tick50)
		}
		want(t, "empty", r.v.Empty(), true)
		want(t, "visits", sortedHashes(r.visits), k8)
	})
}

func TestFinalPassCases(t *testing.T) {
	t.Run("FIN-17 finalising an untouched pass leaves its work", func(t *testing.T) {
		r := newRig(nil, buckets(2)).tokens()
		want(t, "untouched", r.v.untouched(), true)
		want(t, "final", r.v.Final(), false)
		r.signal()
		want(t, "untouched", r.v.untouched(), true)
		want(t, "final", r.v.Final(), true)
		_, ok := r.v.NextList(r.now)
		want(t, "a range is offered", ok, true)
	})
	t.Run("FIN-18 what counts as swept", func(t *testing.T) {
		r := idle(HashRange(1, 100), 2)
		r.mark(10, 20, buffered)
		want(t, "untouched when buffered", r.v.untouched(), false)
		r.v.cover.turn(buffered, committed)
		want(t, "untouched when committed", r.v.untouched(), false)
		r.mark(1, 100, committed)
		r.v.settle(r.now)
		want(t, "untouched in the next pass", r.v.untouched(), true)
	})
	t.Run("FIN-19 a final pass is final until its end", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(8, 8, tick50)
		r.signal()
		want(t, "pending", r.v.Coverage(), "pass 2 final: [1,100)p")
		r.fill()
		want(t, "buffered", r.v.Coverage(), "pass 2 final: [1,100)B")
		want(t, "visit", r.v.NextVisits(r.now, nil, 1)[0].Final, true)
		r.epoch(8)
		want(t, "committed", r.v.Coverage(), "pass 2 final: [1,100)C")
		want(t, "empty", r.v.Empty(), true)
	})
	t.Run("FIN-20 an ordinary rotation is not final", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		for _, v := range r.drain(24, 8, tick50) {
			want(t, "final", v.Final, false)
		}
		want(t, "final", r.v.Final(), false)
	})
	t.Run("FIN-28 a pass marked final stays final", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.signal()
		r.reconfigure(t, func(p *Params) { p.Finite = false })
		r.v.UpstreamCompleted(r.now, false)
		r.polls(20, tick50)
		want(t, "empty", r.v.Empty(), true)
		want(t, "visits", hashes(r.visits), k8)
	})
	t.Run("FIN-30 a withdrawn signal is forgotten", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(1, 1, tick50)
		r.signal()
		r.reconfigure(t, func(p *Params) { p.Finite = false })
		want(t, "visits", len(r.drain(24, 100, tick50)), 24)
		want(t, "empty", r.v.Empty(), false)
	})
	t.Run("FIN-33 repeated signals are one", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(1, 1, tick50)
		for range 5 {
			r.signal()
		}
		want(t, "visits", len(r.drain(15, 100, tick50)), 15)
		want(t, "empty", r.v.Empty(), true)
		r.signal()
		want(t, "more", len(r.polls(10, tick50)), 0)
		want(t, "empty", r.v.Empty(), true)
	})
}

func TestFinalPassRules(t *testing.T) {
	t.Run("a list in flight at the signal does not count for a full final pass", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		l, _ := r.begin()
		before := r.answers(l)
		r.tables[0] = append(r.tables[0], tableRow{key(99, "late"), 1})
		r.signal()
		want(t, "final", r.v.Final(), false)
		r.v.Listed(r.now, l.Token, before)
		r.polls(10, tick50)
		want(t, "empty", r.v.Empty(), true)
		want(t, "the key that was written meanwhile is visited",
			slices.ContainsFunc(r.visits, func(v Visit) bool { return v.Key.Hash == 99 && v.Final }), true)
	})
	t.Run("full_final_pass switched off after the signal finalises the running pass", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(1, 1, tick50)
		r.signal()
		want(t, "final", r.v.Final(), false)
		r.reconfigure(t, func(p *Params) { p.FullFinalPass = false })
		want(t, "final", r.v.Final(), true)
		want(t, "visits", len(r.polls(10, tick50)), 7)
	})
	t.Run("known at the start, the first pass is the final one", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.signal()
		r.polls(10, tick50)
		want(t, "visits", hashes(r.visits), k8)
		want(t, "pass", r.visits[0].Pass, 1)
		want(t, "empty", r.v.Empty(), true)
	})
	t.Run("known at the start of a resumed pass, the next one is final", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(3, 3, tick50)
		r.crash()
		r.signal()
		want(t, "final", r.v.Final(), false)
		r.polls(10, tick50)
		want(t, "visits", len(r.visits), 16)
		want(t, "empty", r.v.Empty(), true)
	})
	t.Run("with no keys a final pass is still a whole pass", func(t *testing.T) {
		r := newRig(nil, buckets(4))
		r.signal()
		want(t, "empty before reading", r.v.Empty(), false)
		r.fill()
		want(t, "lists", len(r.lists), 4)
		want(t, "empty", r.v.Empty(), true)
	})
}

func TestFinalPassPace(t *testing.T) {
	t.Run("a stream that waits for nothing keeps its period", func(t *testing.T) {
		r := newRig(nil, func(c *Config, p *Params) { c.NoUpstreams, p.Period = true, time.Hour })
		r.signal()
		want(t, "final", r.v.Final(), true)
		r.fill()
		want(t, "lists", len(r.lists), 0)
	})
	t.Run("final_pass_period paces what follows the signal", func(t *testing.T) {
		r := newRig(spaced(1, 99), func(_ *Config, p *Params) {
			p.Period, p.FinalPassPeriod, p.FillPeriod = time.Hour, 10*time.Second, 0
		})
		r.signal()
		for i := range 400 {
			if r.v.Empty() {
				t.Logf("empty after %d ticks of 50 ms", i)
				break
			}
			r.polls(1, tick50)
		}
		want(t, "empty", r.v.Empty(), true)
		if took := r.v.Summaries()[0]; took.End-took.Start < int64(9*time.Second) {
			t.Errorf("a paced final pass took %s", took)
		}
	})
	t.Run("retiring removes everything but the summaries", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.signal()
		r.polls(3, tick50)
		r.v.EpochOpened(r.now)
		r.store(r.v.Retire())
		want(t, "rows", r.rows(), "")
		want(t, "record", r.st.Record == nil, true)
		r.v.EpochCommitted(r.now)
		r.crash()
		want(t, "next pass of a recreated partition", r.v.Coverage(), "pass 2: [1,100)p")
	})
}
