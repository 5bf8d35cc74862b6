package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

func handover(producer store.PartitionID, number uint64, size int) partition.Handover {
	return partition.Handover{
		Row:    &store.InboxRow{InboxKey: store.InboxKey{Target: 1, Producer: producer, Number: number}, Payload: make([]byte, size)},
		Report: &store.Report{Partition: producer, Generation: store.Generation(number)},
	}
}

// newTestExchange has partition 1.
func newTestExchange(messages, bytes int64) *exchange {
	x := newExchange()
	x.reset([]store.PartitionID{1}, nil)
	x.limit(1, messages, bytes)
	return x
}

// TestALimitOfAPartitionThatIsNoMoreChangesNothing: orders may come while
// partitions are replaced, and jobs look the sizes up without a lock.
func TestALimitOfAPartitionThatIsNoMoreChangesNothing(t *testing.T) {
	x := newTestExchange(1, 1)
	x.limit(7, 1, 1)
	if len(x.sizes) != 1 {
		t.Errorf("%d sizes of one partition", len(x.sizes))
	}
}

// hand gives a row to its target as an epoch does.
func hand(x *exchange, h partition.Handover) {
	x.begin([]store.InboxRow{*h.Row})
	x.post(h.Row.Target, h)
}

// TestMailboxIsBounded: beyond its bounds it keeps the last report of each
// producer and says that rows were lost (D-10).
func TestMailboxIsBounded(t *testing.T) {
	x := newTestExchange(1, 1)
	b := x.open(1)
	for i := range uint64(3 * mailboxItems) {
		hand(x, handover(store.PartitionID(i%2), i, 10))
	}
	items, lost := b.take()
	if len(items) != mailboxItems {
		t.Errorf("%d items, want %d", len(items), mailboxItems)
	}
	if lost == nil || len(lost.Reports) != 2 || lost.Reports[1].Generation != 3*mailboxItems-1 {
		t.Errorf("lost %+v, want the last report of both producers", lost)
	}
	if items, lost = b.take(); len(items) > 0 || lost != nil {
		t.Errorf("taken twice: %d items, %v", len(items), lost)
	}
	hand(x, handover(1, 1, mailboxBytes))
	hand(x, handover(1, 2, 1))
	if items, lost = b.take(); len(items) != 1 || lost == nil {
		t.Errorf("%d items and %v, want one row beyond the bound in bytes", len(items), lost)
	}
}

// TestHandoverToAFormerJobGoesNowhere: a mailbox belongs to one generation.
func TestHandoverToAFormerJobGoesNowhere(t *testing.T) {
	x := newTestExchange(1, 1)
	former := x.open(1)
	present := x.open(1)
	x.close(1, former) // ends late
	hand(x, handover(2, 1, 1))
	if items, _ := former.take(); len(items) > 0 {
		t.Error("the former job got a hand-over")
	}
	if items, _ := present.take(); len(items) != 1 {
		t.Error("the present job got none")
	}
	x.close(1, present)
	hand(x, handover(2, 2, 1)) // nobody is there: dropped
}

// TestSizesAreSetRightOnlyWhenNothingIsOnTheWay: what is committed and not yet
// taken counts, also if its job believes that it has consumed everything.
func TestSizesAreSetRightOnlyWhenNothingIsOnTheWay(t *testing.T) {
	x := newTestExchange(5, 1000)
	b := x.open(1)
	h := handover(2, 1, 1)
	h.Row.Count = 5
	x.begin([]store.InboxRow{*h.Row})
	x.empty(1, b)
	if !x.full(1) {
		t.Error("a row whose commit is under way does not count")
	}
	x.post(1, h)
	x.empty(1, b)
	if !x.full(1) {
		t.Error("a row that was handed over no longer counts")
	}
	b.take()
	x.empty(1, b) // its commit was applied, but its outcome was lost
	if x.full(1) {
		t.Error("the inbox is empty, and still counts as full")
	}
}

// TestARowConsumedBeforeItIsHandedOverCountsOnce: a job may read a row from the
// store, and be through with it, before its producer's commit returns.
func TestARowConsumedBeforeItIsHandedOverCountsOnce(t *testing.T) {
	x := newTestExchange(5, 1000)
	b := x.open(1)
	h := handover(2, 1, 1)
	h.Row.Count = 5
	x.begin([]store.InboxRow{*h.Row})
	x.release(1, 5, 1)
	x.empty(1, b)
	x.post(1, h)
	if x.full(1) {
		t.Error("a consumed row counts")
	}
}

// TestGivenUpRowsCountUntilTheirTargetIsEmpty: they may be in the store.
func TestGivenUpRowsCountUntilTheirTargetIsEmpty(t *testing.T) {
	x := newTestExchange(5, 1000)
	b := x.open(1)
	h := handover(2, 1, 1)
	h.Row.Count = 5
	x.begin([]store.InboxRow{*h.Row})
	x.giveUp([]store.InboxRow{*h.Row})
	if !x.full(1) {
		t.Error("a row that may be stored does not count")
	}
	select {
	case <-b.signal:
	default:
		t.Error("the target does not learn that nothing comes")
	}
	x.empty(1, b)
	if x.full(1) {
		t.Error("the inbox is empty, and still counts as full")
	}
}

// TestOutputIsHeldBackUntilLittleWaits: until 64 MiB wait for partitions that are to
// be replaced, or for 30 s (D-13).
func TestOutputIsHeldBackUntilLittleWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		consumed int
		want     time.Duration
	}{{"little waits soon", holdBytes / 2, time.Second}, {"much waits for ever", 1, holdTime}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newExchange()
				x.reset([]store.PartitionID{0, 1}, nil)
				for id := range store.PartitionID(2) {
					x.limit(id, 1000, 10*holdBytes)
					x.add(id, 1, holdBytes*2/3)
				}
				time.AfterFunc(time.Second, func() { x.release(0, 1, c.consumed) })
				began := time.Now()
				x.drainTo(t.Context(), []store.PartitionID{0, 1})
				if took := time.Since(began); took != c.want {
					t.Errorf("waited %s, want %s", took, c.want)
				}
				if !x.full(0) || !x.full(1) {
					t.Error("producers are not held back")
				}
			})
		})
	}
}

// TestAnEpochHoldsSystemTimeUntilItsOutcomeIsKnown: handed over, failed before its
// commit, or settled by a new generation, which makes consumers read.
func TestAnEpochHoldsSystemTimeUntilItsOutcomeIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, c := newExchange(), newClock()
		x.reset([]store.PartitionID{1, 2}, nil)
		box := x.open(2)
		from := map[store.PartitionID][]int{1: {0}}
		passed := func() time.Duration {
			<-time.After(time.Second)
			return time.Duration(c.now().Wall - x.passed(box, 2, from, c)[0])
		}
		if behind := passed(); behind != 0 {
			t.Errorf("nothing is under way, and system time is %s behind", behind)
		}
		x.beginEpoch(1, c)
		if behind := passed(); behind != time.Second {
			t.Errorf("a second after an epoch began, system time is %s behind", behind)
		}
		if other := x.passed(box, 2, from, c)[1]; other != c.now().Wall {
			t.Error("it holds back the time of an input that it does not write")
		}
		x.endEpoch(1, []store.PartitionID{2})
		if len(box.signal) == 0 {
			t.Error("nobody wakes the consumer whose time went on")
		}
		if behind := passed(); behind != 0 {
			t.Errorf("after it was handed over, system time is %s behind", behind)
		}
		x.beginEpoch(1, c) // whose commit fails
		if _, lost := box.take(); lost != nil || passed() != time.Second {
			t.Error("an epoch whose outcome is unknown holds nothing back")
		}
		x.settleEpoch(1, []store.PartitionID{2, 3})
		if _, lost := box.take(); lost == nil || passed() != 0 {
			t.Error("when it cannot be committed any more, its consumers do not read, or still wait")
		}
		x.settleEpoch(1, []store.PartitionID{2})
		if _, lost := box.take(); lost != nil {
			t.Error("consumers read for nothing")
		}
	})
}
