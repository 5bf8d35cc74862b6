package partition

import (
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// TestTheSmallestOfManyNumbersIsKept compares with a look at all of them.
func TestTheSmallestOfManyNumbersIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := make([]int64, rapid.IntRange(1, 20).Draw(t, "n"))
		tree := newMinTree(len(all))
		for i := range all {
			all[i] = endOfTime
		}
		for range rapid.IntRange(0, 50).Draw(t, "changes") {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "place")
			all[i] = rapid.Int64Range(-5, 5).Draw(t, "number")
			tree.set(i, all[i])
			if got, want := tree.least(), slices.Min(all); got != want {
				t.Fatalf("the smallest of %v is %d", all, got)
			}
		}
	})
	if newMinTree(0).least() != endOfTime {
		t.Error("nothing has a smallest number")
	}
}

// TestRowsOfTheLastEventTimeAreHeldToo: what is held keeps a stream from being
// completed, whatever its event time.
func TestRowsOfTheLastEventTimeAreHeldToo(t *testing.T) {
	s := newInputStream(Input{Stream: "s", Producers: []store.PartitionID{7}}, visit.Instant{})
	b := newInbox(Config{Job: &store.Job{}, Inputs: []Input{{Stream: "s", Producers: []store.PartitionID{7}}}})
	b.moved = s.moved
	s.apply(visit.Instant{}, 7, 1, store.StreamReport{Stream: "s", State: store.Finished, MaxEvent: endOfTime})
	row := &store.InboxRow{InboxKey: store.InboxKey{Producer: 7, Generation: 1, Number: 1}, Count: 1, MinEvent: endOfTime}
	b.admit(b.lane(row.Lane()), row)
	if s.refresh(visit.Instant{}, &b); s.finished || !s.held(&b) {
		t.Fatal("the stream is completed while a row of it is held")
	}
	b.committed(b.take([]Span{{row, 0, 1}}, 1))
	if s.refresh(visit.Instant{}, &b); !s.finished || s.held(&b) {
		t.Error("the stream is not completed when nothing of it is held")
	}
}
