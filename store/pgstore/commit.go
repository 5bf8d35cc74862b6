package pgstore

import (
	"context"
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// Commit sends all of c at once: the fence, which locks the partition's row and
// checks generation and routing, and then what the epoch changes. The locks of
// rows of tables, and then those of queues, come last (D-12, D-25).
func (s *Store) Commit(ctx context.Context, c *store.Commit) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	err := s.commit(ctx, c)
	if err == nil {
		s.cleaner.took(len(c.Taken))
		s.tell(c)
	}
	return err
}

// filler queues the statements of a commit. Queueing does not fail.
type filler struct {
	sql *pgsql.Queries
	*epoch
	c *store.Commit
}

// begin is the fence. A patient one waits for who holds the partition's row.
func (f *filler) begin(ctx context.Context, patient bool) {
	begin := &pgsql.BeginEpochParams{
		Patient:   patient,
		Partition: int64(f.c.Partition), Generation: int64(f.c.Generation), Computation: []byte(f.c.Computation),
		Routed:  texts(f.c.Routing, func(r *store.Route) string { return r.Computation }),
		Layouts: layoutsOf(f.c.Routing),
	}
	if len(f.c.Produced) > 0 {
		begin.FirstNumber = int64(f.c.Produced[0].Number)
	}
	_ = f.sql.BeginEpoch(ctx, f, begin)
}

// body is what the epoch changes of its own partition and sends to others.
func (f *filler) body(ctx context.Context) {
	f.take(ctx)
	f.states(ctx)
	f.timers(ctx)
	f.visitors(ctx)
	f.produce(ctx)
	f.record(ctx)
	if f.c.Done {
		_ = f.sql.CompletePartition(ctx, f, int64(f.c.Partition))
	}
}

func (f *filler) take(ctx context.Context) {
	taken := f.c.Taken
	if len(taken) == 0 {
		return
	}
	_ = f.sql.TakeRows(ctx, f, &pgsql.TakeRowsParams{
		Target:      int64(f.c.Partition),
		Layouts:     numbers(taken, func(t *store.InboxTake) int64 { return int64(t.Key.Layout) }),
		Producers:   numbers(taken, func(t *store.InboxTake) int64 { return int64(t.Key.Producer) }),
		Generations: numbers(taken, func(t *store.InboxTake) int64 { return int64(t.Key.Generation) }),
		Numbers:     numbers(taken, func(t *store.InboxTake) int64 { return int64(t.Key.Number) }),
		Froms:       numbers(taken, func(t *store.InboxTake) int32 { return int32(t.From) }),
		Tos:         numbers(taken, func(t *store.InboxTake) int32 { return int32(t.To) }),
		Removes:     numbers(taken, func(t *store.InboxTake) bool { return t.Remove }),
	})
}

// states writes what is left of each state in the end, in order of the keys.
func (f *filler) states(ctx context.Context) {
	last := lastOf(f.c.States, compareWrites)
	gone, put := split(last, func(w *store.StateWrite) bool { return len(w.Value) == 0 })
	key := func(w *store.StateWrite) string { return w.Key }
	name := func(w *store.StateWrite) string { return w.Name }
	if len(gone) > 0 {
		_ = f.sql.DeleteStates(ctx, f, &pgsql.DeleteStatesParams{
			Computation: []byte(f.c.Computation), Keys: texts(gone, key), Names: texts(gone, name),
		})
	}
	if len(put) > 0 {
		_ = f.sql.PutStates(ctx, f, &pgsql.PutStatesParams{
			Computation: []byte(f.c.Computation), Keys: texts(put, key), Names: texts(put, name),
			Vals: valuesOf(put, func(w *store.StateWrite) []byte { return w.Value }),
		})
	}
}

// timers removes before it sets (D-14).
func (f *filler) timers(ctx context.Context) {
	if gone := f.c.TimersGone; len(gone) > 0 {
		_ = f.sql.DeleteTimers(ctx, f, &pgsql.DeleteTimersParams{
			Computation: []byte(f.c.Computation),
			Slots:       numbers(gone, func(t *store.TimerID) int16 { return int16(store.TimerSlot(t.Key)) }),
			Streams:     texts(gone, func(t *store.TimerID) string { return t.Stream }),
			Triggers:    numbers(gone, func(t *store.TimerID) int64 { return t.Trigger }),
			Keys:        texts(gone, func(t *store.TimerID) string { return t.Key }),
		})
	}
	if set := f.c.TimersSet; len(set) > 0 {
		_ = f.sql.PutTimers(ctx, f, &pgsql.PutTimersParams{
			Computation: []byte(f.c.Computation),
			Slots:       numbers(set, func(t *store.Timer) int16 { return int16(store.TimerSlot(t.Key)) }),
			Streams:     texts(set, func(t *store.Timer) string { return t.Stream }),
			Triggers:    numbers(set, func(t *store.Timer) int64 { return t.Trigger }),
			Keys:        texts(set, func(t *store.Timer) string { return t.Key }),
			Events:      numbers(set, func(t *store.Timer) int64 { return t.Event }),
		})
	}
}

func (f *filler) visitors(ctx context.Context) {
	putVisitors(ctx, f.sql, f.epoch, f.c.Partition, f.c.Visitors)
}

func putVisitors(ctx context.Context, sql *pgsql.Queries, e *epoch, id store.PartitionID, rows []store.VisitorRow) {
	gone, put := split(lastOf(rows, compareVisitors), func(v *store.VisitorRow) bool { return len(v.Value) == 0 })
	stream := func(v *store.VisitorRow) string { return v.Stream }
	slot := func(v *store.VisitorRow) int32 { return int32(v.Slot) }
	if len(gone) > 0 {
		_ = sql.DeleteVisitors(ctx, e, &pgsql.DeleteVisitorsParams{Partition: int64(id), Streams: texts(gone, stream), Slots: numbers(gone, slot)})
	}
	if len(put) > 0 {
		_ = sql.PutVisitors(ctx, e, &pgsql.PutVisitorsParams{
			Partition: int64(id), Streams: texts(put, stream), Slots: numbers(put, slot),
			Vals: valuesOf(put, func(v *store.VisitorRow) []byte { return v.Value }),
		})
	}
}

func (f *filler) produce(ctx context.Context) {
	if len(f.c.Produced) > 0 {
		putInbox(ctx, f.sql, f.epoch, f.c.Produced)
	}
}

func putInbox(ctx context.Context, sql *pgsql.Queries, e *epoch, rows []store.InboxRow) {
	_ = sql.ProduceRows(ctx, e, &pgsql.ProduceRowsParams{
		Targets:     numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Target) }),
		Layouts:     numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Layout) }),
		Producers:   numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Producer) }),
		Generations: numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Generation) }),
		Numbers:     numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Number) }),
		Previous:    numbers(rows, func(r *store.InboxRow) int64 { return int64(r.Previous) }),
		Counts:      numbers(rows, func(r *store.InboxRow) int32 { return int32(r.Count) }),
		MinEvents:   numbers(rows, func(r *store.InboxRow) int64 { return r.MinEvent }),
		Payloads:    valuesOf(rows, func(r *store.InboxRow) []byte { return some(r.Payload) }),
	})
}

// record changes the partition's head, once.
func (f *filler) record(ctx context.Context) {
	c := f.c
	head := &pgsql.RecordEpochParams{Partition: int64(c.Partition), SourceOffset: c.Offset, SinkPosition: c.Position}
	if n := len(c.Produced); n > 0 {
		head.ProducedGeneration, head.ProducedNumber = told(c.Generation), told(c.Produced[n-1].Number)
	}
	if c.Report != nil {
		setReport(head, c.Report)
	}
	if c.Totals != nil {
		setTotals(head, c.Totals)
	}
	if len(c.Produced) > 0 || c.Report != nil || c.Totals != nil || c.Offset != nil || c.Position != nil {
		_ = f.sql.RecordEpoch(ctx, f, head)
	}
}

func valuesOf[T any](items []T, of func(*T) []byte) [][]byte {
	out := make([][]byte, len(items))
	for i := range items {
		out[i] = of(&items[i])
	}
	return out
}

// lastOf returns the last item of each name, in order of the names. One statement
// can write a row once only.
func lastOf[T any](items []T, compare func(a, b T) int) []T {
	ordered := true
	for i := 1; i < len(items) && ordered; i++ {
		ordered = compare(items[i-1], items[i]) < 0
	}
	if ordered {
		return items
	}
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, compare)
	out := sorted[:0]
	for i := range sorted {
		if i+1 == len(sorted) || compare(sorted[i], sorted[i+1]) != 0 {
			out = append(out, sorted[i])
		}
	}
	return out
}

// split tells items apart, and keeps their order.
func split[T any](items []T, gone func(*T) bool) (yes, no []T) {
	if !slices.ContainsFunc(items, func(t T) bool { return gone(&t) }) {
		return nil, items
	}
	for i := range items {
		if gone(&items[i]) {
			yes = append(yes, items[i])
		} else {
			no = append(no, items[i])
		}
	}
	return yes, no
}
