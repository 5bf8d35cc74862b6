package partition

import (
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// TestOrderedInboxMergesHeadsOfProducers: the earliest head comes next, and a row
// that is earlier than what its producer made before waits for that.
func TestOrderedInboxMergesHeadsOfProducers(t *testing.T) {
	row := func(producer store.PartitionID, number uint64, event int64) *store.InboxRow {
		return &store.InboxRow{
			InboxKey: store.InboxKey{Target: 9, Layout: 1, Producer: producer, Generation: 1, Number: number},
			Previous: number - 1, Count: 1, MinEvent: event, Payload: []byte("x"),
		}
	}
	rows := []store.InboxRow{*row(1, 1, 50), *row(1, 2, 10), *row(1, 3, 60), *row(2, 1, 20), *row(2, 2, 55), *row(3, 1, 52)}
	cfg := Config{
		Job:    &store.Job{Partition: store.Partition{ID: 9}},
		Inputs: []Input{{Stream: "s", Producers: []store.PartitionID{1, 2, 3}}},
		Params: DefaultParams(),
	}
	for name, c := range map[string]struct {
		order func(*store.InboxRow) int64
		want  string
	}{
		"by time": {func(r *store.InboxRow) int64 { return r.MinEvent }, "20 50 10 52 55 60 "},
		"in turn": {nil, "50 20 52 10 55 60 "},
	} {
		cfg.Order = c.order
		b := newInbox(cfg)
		b.moved = func(*lane) {}
		b.acceptRead()
		b.readDone(rows, true)
		got := ""
		for _, s := range b.nextSpans(func(store.PartitionID) bool { return true }, 100, 1000) {
			got += fmt.Sprint(s.Row.MinEvent, " ")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
