package pebblestore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// TestAForgottenPipelineLeavesTheQueues, nothing else, and no number that was
// given out; before and after the store is opened again.
func TestAForgottenPipelineLeavesTheQueues(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, "data", pebblestore.Options{FS: disk})
	old := everything(t, s)
	if err := s.ForgetPipeline(t.Context()); err != nil {
		t.Fatal(err)
	}
	onlyQueues(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, "data", pebblestore.Options{FS: disk})
	onlyQueues(t, s)
	if err := s.Commit(t.Context(), bulky(old, 1)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a commit of the forgotten pipeline: %v", err)
	}
	if again := everything(t, s); again.ID <= old.ID || again.Generation <= old.Generation {
		t.Errorf("numbers are used twice: partition %d, generation %d, before %d and %d", again.ID, again.Generation, old.ID, old.Generation)
	}
}

// everything fills the store with a row of every kind and returns the partition.
func everything(t *testing.T, s *pebblestore.Store) store.Partition {
	t.Helper()
	ctx := context.Background()
	made, err := s.CreatePartitions(ctx, []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true, Layout: 1, Routing: []store.Route{{Computation: "c", Layout: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := s.RaiseGeneration(ctx, made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	p := job.Partition
	c := bulky(p, 1)
	c.Offset, c.Position, c.Totals = []byte("o"), []byte("p"), &store.Totals{Epochs: 1}
	c.Report = &store.Report{Partition: p.ID, Generation: p.Generation, Computation: "c", Layout: 1}
	c.TimersSet = []store.Timer{{TimerID: store.TimerID{Key: "k", Stream: "t"}}}
	c.Visitors = []store.VisitorRow{{Stream: "v", Slot: store.SlotRecord, Value: []byte("r")}}
	c.Routing = []store.Route{{Computation: "c", Layout: 1}}
	c.Produced = []store.InboxRow{{
		InboxKey: store.InboxKey{Target: p.ID, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: 1},
		Count:    1, Payload: []byte("m"),
	}}
	c.Appended = []store.QueueAppend{{Queue: "q", Value: []byte("row")}}
	c.Positions = []store.QueuePosition{{Queue: "q", Consumer: "reader", Offset: 1}}
	stored, err := s.Pipeline(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if stored == nil {
		stored = &store.Pipeline{Name: "p"}
	}
	if err := errors.Join(s.CreateQueue(ctx, "q", 1), s.SavePipeline(ctx, stored), s.Commit(ctx, c)); err != nil {
		t.Fatal(err)
	}
	if q, err := s.Queues(ctx); err != nil || len(q[0].Consumers) != 1 {
		t.Fatalf("the queues are %+v, %v", q, err)
	}
	return p
}

func onlyQueues(t *testing.T, s *pebblestore.Store) {
	t.Helper()
	ctx := context.Background()
	pipeline, err1 := s.Pipeline(ctx)
	parts, err2 := s.Partitions(ctx)
	reports, err3 := s.Reports(ctx)
	totals, err4 := s.Totals(ctx)
	sizes, err5 := s.InboxSizes(ctx)
	states, err6 := s.ListStates(ctx, store.ListRequest{Computation: "c"})
	timers, err8 := s.ListTimers(ctx, store.TimerRequest{Computation: "c", Stream: "t", After: store.TimersFront})
	keyTimers, err9 := s.KeyTimers(ctx, "c", []string{"k"})
	queues, err10 := s.Queues(ctx)
	rows, err7 := s.ReadQueue(ctx, store.QueueRequest{Queue: "q"})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10); err != nil {
		t.Fatal(err)
	}
	if pipeline != nil || len(parts)+len(reports)+len(totals)+len(sizes)+len(states.Keys)+len(timers.Timers)+len(keyTimers[0]) > 0 {
		t.Errorf("left: %+v, %v, %v, %v, %v, %v, %v, %v", pipeline, parts, reports, totals, sizes, states.Keys, timers.Timers, keyTimers)
	}
	if len(queues) != 1 || len(queues[0].Consumers) > 0 {
		t.Errorf("the queues are %+v", queues)
	}
	if len(rows) != 1 || string(rows[0].Value) != "row" {
		t.Errorf("the queue has %v", rows)
	}
}
