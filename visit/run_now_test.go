package visit

import (
	"fmt"
	"testing"
	"time"
)

// order gives a run-now command and returns what is said against it.
func (r *rig) order(id uint64, period time.Duration) string {
	return fmt.Sprint(r.v.RunNow(r.now, Run{ID: id, Period: period}))
}

func TestRunNow(t *testing.T) {
	hourly := func(_ *Config, p *Params) { p.Period, p.FillPeriod = time.Hour, 0 }
	t.Run("KV-49 a command drops the running pass and reads at full pace", func(t *testing.T) {
		r := newRig(spaced(5, 80), hourly)
		r.tick(10 * time.Minute)
		r.drain(2, 2, time.Minute)
		want(t, "taken", r.order(1, 0), "<nil>")
		want(t, "coverage", r.v.Coverage(), "pass 2 run-now: [1,100)p")
		want(t, "visits", hashes(r.polls(1, 0)), k16)
		want(t, "the usual pace returns", r.v.Coverage(), "pass 3: [1,100)p")
		want(t, "more", len(r.polls(10, time.Second)), 0)
		want(t, "summaries", r.v.Summaries(), "[pass 2 took 0s: seen=16 delivered=16 failed=0 gone=0]")
		want(t, "period", r.v.pacer.period, time.Hour)
	})
	t.Run("KV-49 a command has a period of its own", func(t *testing.T) {
		r := newRig(spaced(1, 99), hourly)
		r.order(1, 10*time.Second)
		visits := 0
		r.play(5*time.Second, func(time.Duration, Visit) { visits++ })
		if visits < 40 || visits > 60 {
			t.Errorf("half of the command's period brought %d of 99 visits", visits)
		}
	})
	t.Run("KV-49 its pace survives a restart", func(t *testing.T) {
		r := newRig(spaced(1, 99), hourly)
		r.order(7, 10*time.Second)
		r.play(5*time.Second, func(time.Duration, Visit) {})
		before := r.v.Coverage()
		r.crash()
		want(t, "period", r.v.pacer.period, 10*time.Second)
		want(t, "running", r.v.Status(r.now).Running, true)
		want(t, "run", r.v.Status(r.now).Run, "7 in 10s")
		want(t, "repeating it changes nothing", r.order(7, 10*time.Second), "<nil>")
		want(t, "pass", before[:6], r.v.Coverage()[:6])
	})
	t.Run("KV-49 a crash before the new pass is stored is mended by repeating it", func(t *testing.T) {
		r := newRig(spaced(5, 80), hourly)
		r.tick(30 * time.Minute)
		r.drain(5, 5, time.Minute)
		r.order(1, 0)
		r.crash()
		want(t, "the old pass", r.v.Coverage()[:7], "pass 1:")
		r.order(1, 0)
		want(t, "the command's pass", r.v.Coverage(), "pass 2 run-now: [1,100)p")
	})
	t.Run("KV-49 a command obeyed before is not obeyed after a restart", func(t *testing.T) {
		r := newRig(spaced(5, 80), hourly)
		r.order(1, 0)
		r.polls(1, 0)
		r.sync()
		r.crash()
		want(t, "told again", r.order(1, 0), "<nil>")
		want(t, "coverage", r.v.Coverage(), "pass 3: [1,100)p")
	})
	t.Run("KV-49 it is refused during another one, with its progress", func(t *testing.T) {
		r := newRig(spaced(5, 80), hourly)
		r.order(1, 0)
		r.fill()
		r.epoch(8)
		want(t, "refused", r.order(2, 0), "visit stream sweep carries out a run-now already, 44% of pass 2 is done: wait until it is over")
		want(t, "coverage", r.v.Coverage(), "pass 2 run-now: [1,45:k)C [45:k,100)B")
		r.epoch(8)
		want(t, "taken afterwards", r.order(2, 0), "<nil>")
		want(t, "coverage", r.v.Coverage(), "pass 4 run-now: [1,100)p")
	})
	t.Run("KV-49 it is refused during a final pass and after it", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		r.signal()
		r.fill()
		r.epoch(8)
		want(t, "refused", r.order(1, 0), "visit stream sweep is in its final pass, 44% of pass 1 is done: it visits every key anyway")
		r.epoch(8)
		want(t, "refused", r.order(1, 0), "visit stream sweep has completed: set finite=%false and repartition its computation to start it again")
		want(t, "empty", r.v.Empty(), true)
	})
	t.Run("KV-49 a period out of range is refused", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		want(t, "negative", r.order(1, -1), "the period of run-now must be at least 0 and at most 100 years, got -1ns")
		want(t, "run", r.v.Status(r.now).Run, Run{})
	})
}

func TestRunNowMeetsWhatIsUnderWay(t *testing.T) {
	t.Run("an open epoch commits under its own pass first", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil).tokens()
		r.fill()
		r.v.EpochOpened(r.now)
		r.v.AcceptVisits(r.now, Outcome{Delivered: 3})
		r.order(1, 0)
		want(t, "before the commit", r.v.Coverage(), "pass 1: [1,20:k)T [20:k,100)B")
		want(t, "record", describeRow(r.v.Delta().Record, decodeRecord), "pass=1 start=1h0m0.01s anchor=1h0m0.01s seen=3 delivered=3 failed=0 gone=0")
		r.commit()
		want(t, "after it", r.v.Coverage(), "pass 2 run-now: [1,100)p")
		want(t, "buffered", r.v.Buffered(), 0)
	})
	t.Run("KV-16 a pass whose last visits are in the open epoch is complete", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil).tokens()
		r.fill()
		r.v.EpochOpened(r.now)
		r.v.AcceptVisits(r.now, Outcome{Delivered: 16})
		r.order(1, 0)
		r.commit()
		want(t, "after it", r.v.Coverage(), "pass 2 run-now: [1,100)p")
		want(t, "summaries", fmt.Sprint(len(r.v.Summaries()), r.v.Summaries()[0].Counters), "1 seen=16 delivered=16 failed=0 gone=0")
		want(t, "the pass before", r.v.pass.previous, r.v.Summaries()[0].Start)
	})
	t.Run("a list in flight may lack a key of the new pass, so it does not count", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		l, _ := r.begin()
		before := r.answers(l)
		r.tables[0] = append(r.tables[0], tableRow{key(99, "late"), 1})
		r.order(1, 0)
		_, again := r.begin()
		want(t, "a second list beside it", again, false)
		r.v.Listed(r.now, l.Token, before)
		want(t, "coverage", r.v.Coverage(), "pass 2 run-now: [1,100)p")
		want(t, "visits", hashes(r.polls(1, 0)), k8+" 99")
	})
	t.Run("a disabled stream obeys once it is enabled", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(3, 3, tick50)
		r.reconfigure(t, func(p *Params) { p.Enabled = false })
		r.order(1, 0)
		want(t, "coverage is kept", r.v.Coverage(), "pass 1: [1,20:k)C [20:k,100)p")
		r.reconfigure(t, func(p *Params) { p.Enabled = true })
		want(t, "coverage", r.v.Coverage(), "pass 2 run-now: [1,100)p")
	})
	t.Run("the signal makes a command's pass go on at the final pace", func(t *testing.T) {
		r := newRig(spaced(1, 99), func(_ *Config, p *Params) { p.Period, p.FinalPassPeriod = time.Hour, time.Minute })
		r.order(1, 0)
		r.fill()
		r.epoch(1)
		r.signal()
		want(t, "period", r.v.pacer.period, time.Minute)
		want(t, "paced", r.v.pacer.unlimited, false)
		want(t, "final", r.v.Final(), false)
		r.polls(1, 0)
		want(t, "the next pass is final and no run-now", r.v.Coverage(), "pass 3 final: [1,100)p")
	})
	t.Run("a split keeps it in all parts and a merge in the whole", func(t *testing.T) {
		r := newRig(spaced(1, 99), func(_ *Config, p *Params) { p.Period = time.Hour })
		r.order(3, 10*time.Second)
		r.play(4*time.Second, func(time.Duration, Visit) {})
		halves := []Range{HashRange(1, 50), HashRange(50, 100)}
		st, _ := Repartition([]Piece{{r.cfg.Range, r.st}}, halves, 1)
		for i, half := range halves {
			part := newRig(spaced(1, 99), func(c *Config, p *Params) { c.Range, p.Period = half, time.Hour })
			part.st = st[i]
			part.start()
			want(t, "period", part.v.pacer.period, 10*time.Second)
			want(t, "obeyed", part.order(3, 10*time.Second), "<nil>")
			want(t, "pass", part.v.Status(part.now).Pass, 2)
		}
		done := record{pass: 9, watermark: noWatermark, run: Run{ID: 3, Period: 10 * time.Second}}
		never := record{pass: 1, watermark: noWatermark}
		in := record{pass: 8, watermark: noWatermark, run: Run{ID: 3, Period: 10 * time.Second}, running: true}
		want(t, "one part has done it, the other is in it", in.merge(done), done.merge(in))
		want(t, "so the whole is in it", in.merge(done).running, true)
		want(t, "one part has not heard of it, so the whole has not", in.merge(never).run.ID, 0)
		want(t, "nor with a part that has no record", mergeRecords([]record{in}, true).running, false)
	})
}
