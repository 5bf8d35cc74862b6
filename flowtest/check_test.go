package flowtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// story is a log that is written by hand, a second at a time.
type story struct {
	t    *testing.T
	rec  *flowtest.Recorder
	now  time.Duration
	left map[uint64]uint64
}

func newStory(t *testing.T) *story {
	s := &story{t: t, left: map[uint64]uint64{}}
	s.rec = flowtest.NewRecorder(func() time.Duration { return s.now })
	return s
}

func (s *story) at(second int) *story { s.now = time.Duration(second) * time.Second; return s }

func (s *story) key(hash uint64) flow.Key {
	return flowtest.Key(s.t, flowtest.Schema(s.t, "hash uint64 required"), hash)
}

// call notes a call that finds what the one before left and leaves its stamp.
func (s *story) call(kind flowtest.Kind, hash, pass uint64, edit func(*flowtest.Event)) *story {
	e := flowtest.Event{Kind: kind, Key: s.key(hash), Pass: pass, Stamp: s.rec.Stamp(), Found: s.left[hash]}
	e.Left = e.Stamp
	if edit != nil {
		edit(&e)
	}
	s.left[hash] = e.Left
	s.rec.Add(e)
	return s
}

func (s *story) message(hash uint64) *story { return s.call(flowtest.MessageCall, hash, 0, nil) }
func (s *story) visit(hash, pass uint64) *story {
	return s.call(flowtest.VisitCall, hash, pass, nil)
}

func (s *story) remove(hash uint64) *story {
	return s.call(flowtest.MessageCall, hash, 0, func(e *flowtest.Event) { e.Left = 0 })
}

// wants fails unless the error has all the texts; none means no error.
func wants(t *testing.T, err error, texts ...string) {
	t.Helper()
	if len(texts) == 0 && err != nil {
		t.Errorf("a good story is refused: %v", err)
	}
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("it says %q, want %q", err, text)
		}
	}
}

func TestCoverFindsKeysThatWait(t *testing.T) {
	const within = 10 * time.Second
	good := newStory(t).at(0).message(1).at(9).visit(1, 1).at(19).visit(1, 2).at(25).remove(1).at(90).message(1).at(99)
	wants(t, flowtest.Cover(good.rec.All(), within))
	for name, s := range map[string]*story{
		"before the first visit": newStory(t).message(7).at(11).visit(7, 1),
		"between two":            newStory(t).message(7).visit(7, 1).at(5).message(7).at(11).visit(7, 2),
		"after the last":         newStory(t).message(7).visit(7, 1).at(11),
		"until it is removed":    newStory(t).message(7).visit(7, 1).at(11).remove(7).at(12),
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, flowtest.Cover(s.rec.All(), within), "COVER: key [7u] is there from 0s to 11s")
		})
	}
}

func TestTimeInWhichNobodyRanIsNoWaiting(t *testing.T) {
	s := newStory(t).message(7).visit(7, 1).at(30).visit(7, 2)
	s.rec.Down(flowtest.Span{From: 5 * time.Second, To: 25 * time.Second})
	wants(t, errors.Join(flowtest.Cover(s.rec.All(), 10*time.Second), flowtest.Gap(s.rec.All(), 10*time.Second)))
	wants(t, flowtest.Cover(s.rec.All(), 9*time.Second), "from 0s to 30s without a visit, 10s of running time")
}

func TestGapFindsTheLongestTimeBetweenTwoVisits(t *testing.T) {
	s := newStory(t).message(7).at(50).visit(7, 1).at(60).visit(7, 2).at(99)
	wants(t, flowtest.Gap(s.rec.All(), 10*time.Second))
	wants(t, flowtest.Gap(s.rec.All(), 9*time.Second), "GAP: key [7u] is visited at 50s and then at 1m0s")
	again := newStory(t).message(7).visit(7, 1).remove(7).at(50).message(7).visit(7, 2)
	wants(t, flowtest.Gap(again.rec.All(), 9*time.Second))
}

func TestOnceFindsTheSecondVisitOfAPass(t *testing.T) {
	good := newStory(t).message(7).visit(7, 1).message(8).visit(8, 1).visit(7, 2)
	wants(t, flowtest.Once(good.rec.All()))
	bad := good.at(3).call(flowtest.FailedVisit, 7, 2, nil)
	wants(t, flowtest.Once(bad.rec.All()), "ONCE: key [7u] is visited twice in pass 2, at 0s and at 3s")
}

func TestFreshFindsStateThatIsOldOrLost(t *testing.T) {
	good := newStory(t).message(7).visit(7, 1).remove(7).message(7)
	wants(t, flowtest.Fresh(good.rec.All()))
	stale := newStory(t).message(7).message(7).at(4).call(flowtest.VisitCall, 7, 1, func(e *flowtest.Event) { e.Found = 1 })
	wants(t, flowtest.Fresh(stale.rec.All()), "FRESH: key [7u] at 4s finds what call 1 left, and call 2 at 0s had left 2")
	first := newStory(t).at(4).call(flowtest.VisitCall, 7, 1, func(e *flowtest.Event) { e.Found = 9 })
	wants(t, flowtest.Fresh(first.rec.All()), "finds what call 9 left, and had no state")
}

func TestNoGhostFindsVisitsOfAbsentKeys(t *testing.T) {
	good := newStory(t).message(7).visit(7, 1).remove(7)
	wants(t, flowtest.NoGhost(good.rec.All()))
	wants(t, flowtest.NoGhost(good.at(5).visit(7, 2).rec.All()), "NOGHOST: key [7u] is visited at 5s without a state")
}

func TestAtomicFindsStateAndOutputThatDisagree(t *testing.T) {
	emits := func(e *flowtest.Event) { e.Emitted = 2 }
	s := newStory(t).message(7).at(3).call(flowtest.VisitCall, 7, 1, emits)
	stored := func(stamp uint64) map[string]uint64 { return map[string]uint64{s.key(7).Encoded(): stamp} }
	l := s.rec.All()
	wants(t, flowtest.Atomic(l, stored(2), map[uint64]int{2: 2}))
	wants(t, flowtest.Atomic(l, stored(2), map[uint64]int{2: 1}), "ATOMIC: key [7u]: call 2 at 3s emitted 2 messages, and 1 came out")
	wants(t, flowtest.Atomic(l, stored(1), map[uint64]int{2: 2}), "the store has the state of call 1, and call 2 at 3s left 2")
	wants(t, flowtest.Atomic(l, stored(2), map[uint64]int{2: 2, 5: 1}), "1 messages came out of call 5, which was never committed")
	other := stored(2)
	other["x"] = 9
	wants(t, flowtest.Atomic(l, other, map[uint64]int{2: 2}), "a key that no call was about")
}

func TestWhatFailedIsNotInTheLog(t *testing.T) {
	s := newStory(t).message(7).message(70)
	s.rec.Commit(flowtest.HashRange(0, 10, false))
	s.rec.Discard(flowtest.HashRange(10, 0, true))
	s.at(9).message(70)
	if l := s.rec.Committed(); len(l.Events) != 1 || l.Events[0].Key.String() != "[7u]" || l.End != 9*time.Second {
		t.Errorf("the log is %+v", l)
	}
	if l := s.rec.All(); len(l.Events) != 2 {
		t.Errorf("with all it is %+v", l)
	}
}

func TestALogBeginsWhereItIsAsked(t *testing.T) {
	s := newStory(t).message(7).message(8).remove(8).at(50).visit(7, 1).at(55)
	l := s.rec.All().Since(45 * time.Second)
	wants(t, errors.Join(flowtest.Cover(l, 5*time.Second), flowtest.Fresh(l)))
	wants(t, flowtest.Cover(l, 4*time.Second), "key [7u] is there from 45s to 50s")
	if n := len(l.Where(flowtest.HashRange(8, 9, false)).Events); n != 0 {
		t.Errorf("%d events of key 8", n)
	}
}

func TestSmoothFindsBursts(t *testing.T) {
	even := newStory(t)
	for i := range 100 {
		even.at(i).visit(uint64(i), 1)
	}
	span := flowtest.Span{To: 100 * time.Second}
	wants(t, flowtest.Smooth(even.rec.All(), span, 10, 0.9, 1.1))
	for range 6 {
		even.at(42).visit(142, 2)
	}
	wants(t, flowtest.Smooth(even.rec.All(), span, 10, 0.9, 1.3), "SMOOTH: 16 visits from 35s to 45s: want 10 to 14")
	wants(t, flowtest.Smooth(newStory(t).rec.All(), span, 10, 0, 2), "no visit from 0s to 1m40s")
}

func TestIsolateComparesTheSlowestHundredth(t *testing.T) {
	times := func(slow time.Duration) (out []time.Duration) {
		for range 100 {
			out = append(out, time.Millisecond)
		}
		return append(out, slow, slow)
	}
	wants(t, flowtest.Isolate(times(2*time.Millisecond), times(3*time.Millisecond), 1.5))
	wants(t, flowtest.Isolate(times(2*time.Millisecond), times(4*time.Millisecond), 1.5), "ISOLATE: 99 of 100 messages take up to 4ms with visits and 2ms without, 2.00 times")
	wants(t, flowtest.Isolate(nil, times(1), 1.5), "0 latencies without visits")
}

func TestMemFindsWhatGrows(t *testing.T) {
	before := flowtest.MeasureMemory()
	kept := make([]byte, 8<<20)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); <-stop }()
	after := flowtest.MeasureMemory()
	wants(t, flowtest.Mem(before, before, 0))
	wants(t, flowtest.Mem(before, after, 4<<20), "MEM: ", "bytes are live", "goroutines")
	close(stop)
	<-done
	kept[0] = 1
}

func TestHonestFindsClaimsThatTheRecordDoesNotBear(t *testing.T) {
	s := newStory(t).message(7).message(8).at(10).visit(7, 1).at(12).visit(8, 1).at(20).call(flowtest.FailedVisit, 7, 2, nil).at(25)
	l := s.rec.All()
	const pass = 10 * time.Second
	first := flowtest.Claim{At: 15 * time.Second, Pass: 1, Seen: 2, Delivered: 2, Complete: true, MaxAge: 6 * time.Second}
	second := flowtest.Claim{At: s.now, Pass: 2, Failed: 1, MaxAge: 15 * time.Second}
	wants(t, flowtest.Honest(l, pass, first, second))
	for want, edit := range map[string]func(*flowtest.Claim){
		"at 15s pass 1 is said to have 3 visits delivered":                              func(c *flowtest.Claim) { c.Delivered = 3 },
		"pass 1 is said to be complete at 15s with 4 keys seen":                         func(c *flowtest.Claim) { c.Seen = 4 },
		"at 15s no key is said to have waited for longer than 4s: key [7u] has, for 5s": func(c *flowtest.Claim) { c.MaxAge = 4 * time.Second },
		"at 15s a key is said to have waited for 16s: 5s is the longest":                func(c *flowtest.Claim) { c.MaxAge = 16 * time.Second },
	} {
		c := first
		edit(&c)
		wants(t, flowtest.Honest(l, pass, c), want)
	}
	old := second
	old.Late, old.Failed = 6*time.Second, 0
	wants(t, flowtest.Honest(l, pass, old))
	c := second
	c.Owns = flowtest.HashRange(8, 9, false)
	wants(t, flowtest.Honest(l, pass, c), "0 and 0 are in the record")
}
