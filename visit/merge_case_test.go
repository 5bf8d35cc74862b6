package visit

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// bothWays merges two statuses in both orders, which must be the same.
func bothWays(t *testing.T, a, b Status) Status {
	t.Helper()
	a.Stream, b.Stream = "sweep", "sweep"
	one, other := Merge(a, b), Merge(b, a)
	if !reflect.DeepEqual(one, other) {
		t.Errorf("the order matters: %+v or %+v", one, other)
	}
	return one
}

func TestMergeCases(t *testing.T) {
	known := func(v float64) Rate { return Rate{v, true} }
	t.Run("TS-12 the smallest times win and missing ones are passed over", func(t *testing.T) {
		s := Merge(
			Status{System: Time{1712182928, true}, Event: Time{1712182911, true}},
			Status{Event: Time{1712182910, true}},
			Status{System: Time{1712182929, true}},
		)
		want(t, "system", s.System, Time{1712182928, true})
		want(t, "event", s.Event, Time{1712182910, true})
		want(t, "nothing known", Merge(Status{}, Status{}).Event.Known, false)
	})
	t.Run("TS-13 a stream is Empty or Suspended only as a whole", func(t *testing.T) {
		s := bothWays(t, Status{Empty: true, Suspended: true}, Status{})
		want(t, "empty", s.Empty, false)
		want(t, "suspended", s.Suspended, false)
		s = bothWays(t, Status{Empty: true}, Status{Suspended: true})
		want(t, "empty", s.Empty, false)
		want(t, "a part that is over does not keep the stream active", s.Suspended, true)
		s = bothWays(t, Status{Empty: true}, Status{Empty: true})
		want(t, "empty", s.Empty, true)
		want(t, "suspended", s.Suspended, false)
	})
	t.Run("RATE-11 counts and rates are added", func(t *testing.T) {
		s := bothWays(t,
			Status{Ready: 2, ReadyBytes: 20, Offered: known(3), OfferedBytes: known(30)},
			Status{Ready: 5, ReadyBytes: 50, Offered: known(7), OfferedBytes: known(70)})
		want(t, "ready", s.Ready, 7)
		want(t, "ready bytes", s.ReadyBytes, 70)
		want(t, "offered", s.Offered, known(10))
		want(t, "offered bytes", s.OfferedBytes, known(100))
	})
	t.Run("RATE-15 a completed part is known to be zero, an unobserved one hides the sum", func(t *testing.T) {
		r := newRig(nil, nil)
		done, fresh := Completed("sweep", HashRange(100, 200), r.now), r.v.Status(r.now)
		want(t, "ready", done.Ready, 0)
		for _, rate := range []Rate{done.Offered, done.OfferedBytes, done.Processed} {
			want(t, "rate", rate, known(0))
		}
		want(t, "watermark", done.Watermark, Time{r.now.Wall, true})
		s := bothWays(t, done, fresh)
		want(t, "processed", s.Processed.Known, false)
		want(t, "offered", s.Offered.Known, false)
		want(t, "empty", s.Empty, false)
		want(t, "suspended", s.Suspended, false)
		want(t, "all completed", Merge(done, done).Empty, true)
		want(t, "offered by none", Merge(done, done).Offered, known(0))
	})
}

func TestMergedStatus(t *testing.T) {
	t.Run("fractions are weighed by length in any order", func(t *testing.T) {
		parts := []Status{
			{Range: HashRange(0, 10), Progress: 1, Scanned: 1},
			{Range: HashRange(10, 40), Progress: 0.5, Scanned: 1},
			{Range: HashRange(40, 100), Progress: 0, Scanned: 0.5},
		}
		for range parts {
			parts = append(parts[1:], parts[0])
			s := Merge(parts...)
			want(t, "progress", s.Progress, 0.25)
			want(t, "scanned", s.Scanned, 0.7)
			want(t, "range", s.Range, "[0,100)")
		}
		want(t, "of a part without a length", Merge(parts[0], Status{Range: Range{At(key(7, "a")), At(key(7, "b"))}}).Progress < 1, true)
	})
	t.Run("what cannot be added is the worse of both", func(t *testing.T) {
		s := bothWays(t,
			Status{Pass: 7, PassStart: 50, Lag: time.Second, Left: time.Hour, LeftKnown: true, MaxAge: time.Minute, Pace: Rate{0.5, true}, CatchUp: true, Final: true, FinalBegun: true},
			Status{Pass: 6, PassStart: 40, Lag: time.Minute, Left: time.Minute, MaxAge: time.Hour, Pace: Rate{0.9, true}, Enabled: true})
		want(t, "pass", s.Pass, 6)
		want(t, "start", s.PassStart, 40)
		want(t, "lag", s.Lag, time.Minute)
		want(t, "left", s.Left, time.Hour)
		want(t, "left known", s.LeftKnown, false)
		want(t, "age", s.MaxAge, time.Hour)
		want(t, "pace", s.Pace, 0.5)
		want(t, "catching up", s.CatchUp, true)
		want(t, "final", s.Final, false)
		want(t, "a final pass has begun", s.FinalBegun, true)
		want(t, "enabled", s.Enabled, true)
	})
	t.Run("a completed part does not hide pass and command of the others", func(t *testing.T) {
		running := Status{Range: HashRange(0, 50), Pass: 4, Run: Run{ID: 2}, Running: true, Enabled: true}
		s := bothWays(t, running, Completed("sweep", HashRange(50, 100), Instant{Wall: 1}))
		want(t, "pass", s.Pass, 4)
		want(t, "run", s.Run.ID, 2)
		want(t, "refused", s.RefuseRunNow() != nil, true)
	})
	t.Run("KV-49 a command waits for the last part that is in the former one", func(t *testing.T) {
		over := Status{Range: HashRange(0, 50), Pass: 4, Progress: 0.2, Run: Run{ID: 2}}
		in := Status{Range: HashRange(50, 100), Pass: 3, Progress: 0.6, Run: Run{ID: 2}, Running: true}
		want(t, "refused", bothWays(t, over, in).RefuseRunNow(), "visit stream sweep carries out a run-now already, 40% of pass 3 is done: wait until it is over")
		want(t, "allowed", Merge(over, over).RefuseRunNow(), "<nil>")
		unheard := Status{Range: HashRange(100, 150), Run: Run{ID: 1}}
		want(t, "obeyed by all", bothWays(t, over, unheard).Run.ID, 1)
	})
	t.Run("equal problems are one and buckets are in order", func(t *testing.T) {
		bad := Problem{Path: "/key_visitor/sweep/background_fill", Message: "disk on fire"}
		b := func(lower uint64) BucketStatus { return BucketStatus{Range: HashRange(lower, lower+1)} }
		s := bothWays(t,
			Status{Problems: []Problem{bad}, Buckets: []BucketStatus{b(5)}},
			Status{Problems: []Problem{{Path: "/key_visitor/sweep/a"}, bad}, Buckets: []BucketStatus{b(1), b(2)}})
		want(t, "problems", s.Problems, "[{/key_visitor/sweep/a } {/key_visitor/sweep/background_fill disk on fire}]")
		want(t, "buckets", slices.IsSortedFunc(s.Buckets, func(a, b BucketStatus) int { return a.Range.Lower.Compare(b.Range.Lower) }), true)
	})
	t.Run("nothing to merge", func(t *testing.T) { want(t, "status", Merge(), Status{}) })
}
