package partition

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// idleRig is a partition that reads a stream of several producers.
type idleRig struct {
	*Machine
	now  visit.Instant
	held []Held // told when time passes, and forgotten
}

func newIdleRig(producers int, idle *Idle) *idleRig {
	r := &idleRig{now: visit.Instant{Wall: int64(1000 * time.Hour)}}
	in := Input{Stream: "in", Idle: idle}
	for i := range producers {
		in.Producers = append(in.Producers, store.PartitionID(i+1))
	}
	r.Machine = New(Config{
		Job:    &store.Job{Partition: store.Partition{ID: 99, Generation: 1}},
		Inputs: []Input{in}, Params: DefaultParams(),
	}, r.now)
	r.Accept(r.now, r.Ready(r.now))
	r.Step(r.now, InboxRead{End: true})
	return r
}

func (r *idleRig) report(producer store.PartitionID, watermark int64, state store.StreamState) {
	r.Step(r.now, Handover{Report: &store.Report{Partition: producer, Generation: 1, Streams: []store.StreamReport{
		{Stream: "in", Watermark: watermark, MaxEvent: watermark, State: state},
	}}})
}

// pass lets time pass: the machine is woken when it asked to be.
func (r *idleRig) pass(d time.Duration) {
	end := r.now.Mono + d
	for {
		ready := r.Ready(r.now)
		if ready.ReadInbox != nil {
			r.Accept(r.now, Ready{ReadInbox: ready.ReadInbox})
			r.Step(r.now, InboxRead{End: true})
			continue
		}
		at := end
		if ready.Wake && ready.WakeAt < end {
			at = ready.WakeAt
		}
		r.now.Wall += int64(at - r.now.Mono)
		r.now.Mono = at
		r.Step(r.now, TimePassed{Held: r.held})
		r.held = nil
		if at == end {
			return
		}
	}
}

func (r *idleRig) watermark() int64 { return r.inputs[0].watermark }

// TestIdleProducersAreToldByTheirSilence: one that is quiet, one that never started;
// not more than the ratio, unless all are; never without the setting; and one that
// has more to be read here is not idle (D-17).
func TestIdleProducersAreToldByTheirSilence(t *testing.T) {
	minute := &Idle{After: time.Minute, Bound: 10 * time.Second, MaxRatio: 0.5}
	t.Run("without the setting nothing is passed over", func(t *testing.T) {
		r := newIdleRig(2, nil)
		r.report(1, 500, store.Active)
		r.pass(time.Hour)
		want(t, "watermark", r.watermark(), store.NoTime)
	})
	t.Run("a producer that never started", func(t *testing.T) {
		r := newIdleRig(2, minute)
		r.pass(59 * time.Second)
		r.report(1, 500, store.Active)
		r.pass(0)
		want(t, "before", r.watermark(), store.NoTime)
		r.pass(time.Second)
		want(t, "after", r.watermark(), 500)
	})
	t.Run("more than the ratio, and not all", func(t *testing.T) {
		r := newIdleRig(3, minute)
		r.pass(59 * time.Second)
		r.report(1, 500, store.Active)
		r.pass(2 * time.Second)
		want(t, "watermark", r.watermark(), store.NoTime)
		want(t, "stalled", r.Status(r.now).Stalled, "[in]")
		r.report(2, 400, store.Active) // one of two comes back
		r.pass(0)
		want(t, "watermark", r.watermark(), 400)
		want(t, "stalled", r.Status(r.now).Stalled, "[]")
	})
	t.Run("a source that goes quiet as a whole follows the clock", func(t *testing.T) {
		r := newIdleRig(2, minute)
		r.report(1, 500, store.Active)
		r.report(2, 600, store.Active)
		r.pass(10 * time.Minute)
		behind := time.Duration(r.now.Wall - r.watermark())
		want(t, "behind the clock by the bound and a step at most", behind >= minute.Bound && behind <= minute.Bound+minute.After/2, true)
		was := r.watermark()
		r.report(1, 700, store.Active) // what comes now is late, and holds back what comes after
		r.pass(30 * time.Second)
		want(t, "it never goes back", r.watermark(), was)
	})
	t.Run("completed producers neither count nor hold back", func(t *testing.T) {
		r := newIdleRig(2, minute)
		r.report(1, 500, store.Finished)
		r.pass(2 * time.Minute)
		want(t, "the only one left is idle, so all are", r.watermark() > 500, true)
	})
	t.Run("one that is held back is not silent, and may be idle a minute later", func(t *testing.T) {
		r := newIdleRig(2, minute)
		r.report(1, 500, store.Active)
		r.report(2, 600, store.Active)
		r.held = []Held{{Producer: 1, Held: true, At: r.now.Mono}}
		r.pass(time.Hour)
		want(t, "watermark", r.watermark(), 500)
		r.held = []Held{{Producer: 1, At: r.now.Mono}}
		r.pass(59 * time.Second)
		want(t, "it may take what it has", r.watermark(), 500)
		r.pass(time.Second)
		want(t, "it has nothing", r.watermark() > 600, true)
	})
	t.Run("what waits here is not silence", func(t *testing.T) {
		r := newIdleRig(2, minute)
		r.report(2, 800, store.Active)
		r.Step(r.now, Handover{Row: &store.InboxRow{InboxKey: store.InboxKey{Target: 99, Producer: 1, Generation: 1, Number: 1}, Count: 1, MinEvent: 300}})
		r.Accept(r.now, r.Ready(r.now))
		r.Step(r.now, InboxRead{Rows: []store.InboxRow{{InboxKey: store.InboxKey{Target: 99, Producer: 1, Generation: 1, Number: 1}, Count: 1, MinEvent: 300}}, End: true})
		r.now.Mono += 2 * time.Minute
		r.Step(r.now, TimePassed{})
		want(t, "watermark", r.watermark() <= 300, true)
	})
}

// TestHeldBackIsWhatHasRowsAndMustNotTakeThem: by a full target, by its group, by other
// streams; not for want of rows (D-17, D-18).
func TestHeldBackIsWhatHasRowsAndMustNotTakeThem(t *testing.T) {
	now := visit.Instant{Mono: time.Hour}
	for name, e := range map[string]Event{
		"a full target": Blocked{Outputs: []bool{true}},
		"its group":     Aligned{Limit: 50},
		"other streams": Delayed{Limit: 50},
		"nothing":       Aligned{Limit: endOfTime},
	} {
		m := New(Config{
			Job:    &store.Job{Partition: store.Partition{ID: 9, Generation: 1}, Report: &store.Report{Streams: []store.StreamReport{{Stream: "out", Watermark: 60}}}},
			Source: "src", Outputs: []Output{{Stream: "out", Parents: []string{"src"}}}, Params: DefaultParams(),
		}, now)
		m.Step(now, e)
		want(t, name+", without rows", m.HeldBack(), false)
		m.Accept(now, Ready{ReadSource: m.Ready(now).ReadSource})
		m.Step(now, SourceRead{Rows: 1, Bytes: 1, MaxEvent: 70})
		want(t, name+", with rows", m.HeldBack(), name != "nothing")
	}
}

// TestSourcesAreAlignedByTheLeastOfTheirGroup: those that have ended or are idle do
// not count, and one that never started does until it is idle.
func TestSourcesAreAlignedByTheLeastOfTheirGroup(t *testing.T) {
	var a Alignment
	for id := store.PartitionID(1); id <= 3; id++ {
		a.Join(0, id, 100, time.Minute)
	}
	at := time.Second
	to := func(watermark int64) Progress { return Progress{Watermark: watermark} }
	a.Report(at, 1, to(1000))
	a.Report(at, 2, to(500))
	want(t, "one has not started", a.Limit(at, 1).Limit < 0, true)
	want(t, "until it is idle", a.Limit(at, 1).Until, time.Minute)
	want(t, "then the others count", a.Limit(time.Minute, 1).Limit, 600)
	want(t, "it is news that the least moves", a.Report(time.Minute, 2, to(700)), true)
	want(t, "and not that another does", a.Report(time.Minute, 1, to(1100)), false)
	want(t, "limit", a.Limit(time.Minute, 1).Limit, 800)
	want(t, "it is news that the least has ended", a.Report(time.Minute, 2, Progress{Watermark: 700, Ended: true}), true)
	want(t, "limit without it", a.Limit(time.Minute, 1).Limit, 1200)
	want(t, "nobody is left to wait for", a.Report(time.Minute, 1, Progress{Watermark: 1100, Ended: true}), true)
	want(t, "no limit", a.Limit(time.Minute, 1).Limit, endOfTime)
}

// TestWhoIsHeldBackOrBringsRowsIsNotIdle: for as long as that lasts, and the time that
// makes a member idle; of members of other workers, those say it.
func TestWhoIsHeldBackOrBringsRowsIsNotIdle(t *testing.T) {
	var a Alignment
	a.Join(0, 1, 100, time.Minute)
	a.Join(0, 2, 100, time.Minute)
	a.Join(0, 3, 100, 0)
	a.Report(0, 1, Progress{Watermark: 1000})
	a.Report(0, 2, Progress{Watermark: 500, Held: true})
	a.Report(0, 3, Progress{Watermark: 2000})
	want(t, "held back for an hour", a.Limit(time.Hour, 1), Aligned{Limit: 600})
	a.Report(time.Hour, 2, Progress{Watermark: 500})
	want(t, "it may go on", a.Limit(time.Hour, 1), Aligned{Limit: 600, Until: time.Hour + time.Minute})
	want(t, "it brings rows", a.Report(time.Hour+time.Minute-1, 2, Progress{Watermark: 500, Rows: 1}), false)
	want(t, "that are late", a.Limit(time.Hour+2*time.Minute-2, 1), Aligned{Limit: 600, Until: time.Hour + 2*time.Minute - 1})
	want(t, "and no more", a.Limit(time.Hour+2*time.Minute-1, 1).Limit, 2100)
	want(t, "another worker finds one idle", a.Report(2*time.Hour, 3, Progress{Watermark: 2000, Idle: true}), true)
	want(t, "nobody is left to wait for", a.Limit(2*time.Hour, 1).Limit, endOfTime)
	want(t, "and not idle any more", a.Report(3*time.Hour, 3, Progress{Watermark: 2000}), true)
	want(t, "limit", a.Limit(3*time.Hour, 1).Limit, 2100)
}

// TestIdleWatermarksAgainstAPlainLook: random reports, rows and waits. The watermark
// never goes back, never passes what is held, and waits for nobody who is idle.
func TestIdleWatermarksAgainstAPlainLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idle := &Idle{After: 10 * time.Second, Bound: 3 * time.Second, MaxRatio: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "ratio")}
		n := rapid.IntRange(1, 4).Draw(t, "producers")
		r := newIdleRig(n, idle)
		told, heard, ended := make([]int64, n), make([]time.Duration, n), make([]bool, n)
		for i := range told {
			told[i] = store.NoTime
		}
		was := r.watermark()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "producer")
			switch rapid.IntRange(0, 4).Draw(t, "action") {
			case 0, 1:
				at := r.now.Wall - int64(time.Duration(rapid.IntRange(0, 60).Draw(t, "behind"))*time.Second)
				if !ended[i] && at > told[i] {
					told[i], heard[i] = at, r.now.Mono
					r.report(store.PartitionID(i+1), at, store.Active)
				}
			case 2:
				if rapid.IntRange(0, 5).Draw(t, "end") == 0 && !ended[i] {
					ended[i] = true
					r.report(store.PartitionID(i+1), told[i], store.Finished)
				}
			default:
				r.pass(time.Duration(rapid.IntRange(0, 8000).Draw(t, "wait")) * time.Millisecond)
			}
			r.pass(0)
			silent, active, least := 0, 0, endOfTime
			for i := range told {
				quiet := r.now.Mono-heard[i] >= idle.After
				switch {
				case ended[i]:
					continue
				case quiet:
					silent++
				default:
					least = min(least, told[i])
				}
				active++
			}
			got := r.watermark()
			passed := silent == active || silent <= int(idle.MaxRatio*float64(n))
			switch {
			case got < was:
				t.Fatalf("the watermark went back from %d to %d", was, got)
			case active == 0:
			case passed && silent < active && got < min(least, r.now.Wall-int64(idle.Bound+idle.After)):
				t.Fatalf("the watermark is %d, though those who are not idle are at %d", got, least)
			case passed && silent == active && got < r.now.Wall-int64(idle.Bound+idle.After):
				t.Fatalf("all are idle, and the watermark is %s behind", time.Duration(r.now.Wall-got))
			case !passed && len(r.stalls()) == 0:
				t.Fatal("too many are idle, and nothing says so")
			}
			was = got
		}
	})
}
