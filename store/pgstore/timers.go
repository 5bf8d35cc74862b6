package pgstore

import (
	"context"
	"math"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// slotRows is how many timers of each slot are read at first, at least.
const slotRows = 8

// ListTimers reads the first timers of every slot of the range, about twice as
// many as are wanted. What comes before the last one of each slot that may have
// more is then known; if it is too little, the read goes on from there with more
// of each slot.
func (s *Store) ListTimers(ctx context.Context, r store.TimerRequest) (*store.TimerAnswer, error) {
	answer := &store.TimerAnswer{}
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		params, slots := slotsOf(&r)
		wanted := rowsWanted(&r)
		for each := max(slotRows, 2*wanted/max(slots, 1)); ; each *= 2 {
			if wanted > 0 {
				limit := int32(min(each, math.MaxInt32))
				params.MaxRows = &limit
			}
			rows, err := s.sql.TimersOfSlots(ctx, db, params)
			if err != nil {
				return err
			}
			known, end := knownTimers(rows, each, wanted > 0)
			if full := addTimers(answer, &r, known); full || end {
				answer.End = end && !full
				return nil
			}
			if n := len(known); n > 0 {
				params.AfterTrigger, params.AfterKey = known[n-1].Trigger, known[n-1].Key
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// slotsOf makes the statement's parameters, and tells how many slots there are.
func slotsOf(r *store.TimerRequest) (params *pgsql.TimersOfSlotsParams, slots int) {
	first, end := store.TimerSlotsOf(r.Lower, r.Upper)
	return &pgsql.TimersOfSlotsParams{
		FirstSlot: int32(first), LastSlot: int32(end - 1), Computation: []byte(r.Computation), Stream: []byte(r.Stream),
		AfterTrigger: r.After.Trigger, AfterKey: []byte(r.After.Key),
		Lower: []byte(r.Lower), Upper: []byte(r.Upper), Open: r.Upper == "",
	}, end - first
}

// rowsWanted is how many timers the limits allow, and one more; 0 for all.
func rowsWanted(r *store.TimerRequest) int {
	n := r.MaxRows
	if r.MaxBytes > 0 {
		least := (&store.Timer{TimerID: store.TimerID{Stream: r.Stream}}).Size()
		if most := r.MaxBytes/least + 1; n == 0 || most < n {
			n = most
		}
	}
	if n > 0 {
		n++
	}
	return n
}

// knownTimers returns those that nothing can come before that was not read, and
// whether they are all there are.
func knownTimers(rows []pgsql.TimersOfSlotsRow, each int, limited bool) (known []pgsql.TimersOfSlotsRow, end bool) {
	if !limited {
		return rows, true
	}
	read := map[int16]int{}
	for i := range rows {
		read[rows[i].Slot]++
		if read[rows[i].Slot] == each {
			return rows[:i+1], false
		}
	}
	return rows, true
}

// addTimers appends what the limits allow, and tells whether they left something
// out.
func addTimers(a *store.TimerAnswer, r *store.TimerRequest, rows []pgsql.TimersOfSlotsRow) (full bool) {
	bytes := 0
	for i := range a.Timers {
		bytes += a.Timers[i].Size()
	}
	for i := range rows {
		row := &rows[i]
		t := store.Timer{TimerID: store.TimerID{Key: string(row.Key), Trigger: row.Trigger, Stream: r.Stream}, Event: row.Event}
		bytes += t.Size()
		if n := len(a.Timers); r.MaxRows > 0 && n == r.MaxRows || r.MaxBytes > 0 && bytes > r.MaxBytes && n > 0 {
			return true
		}
		a.Timers = append(a.Timers, t)
	}
	return false
}

// slotGroup is how many slots are read by one statement of LeastTimerEvent.
const slotGroup = 64

// LeastTimerEvent reads the slots group by group, each within the time of a call of
// its own: there may be more timers than can be read in one. Nobody but the caller
// changes those of its range.
func (s *Store) LeastTimerEvent(ctx context.Context, r store.TimerRequest) (least int64, any bool, err error) {
	all, _ := slotsOf(&r)
	for first := all.FirstSlot; first <= all.LastSlot; first += slotGroup {
		last := min(first+slotGroup-1, all.LastSlot)
		err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
			group, err := s.sql.LeastTimerEvent(ctx, db, &pgsql.LeastTimerEventParams{
				FirstSlot: first, LastSlot: last, Computation: all.Computation, Stream: all.Stream,
				AfterTrigger: all.AfterTrigger, AfterKey: all.AfterKey, Lower: all.Lower, Upper: all.Upper, Open: all.Open,
			})
			if group.There && (!any || group.Least < least) {
				least, any = group.Least, true
			}
			return err
		})
		if err != nil {
			return 0, false, err
		}
	}
	return least, any, nil
}

// KeyTimers asks for all keys at once.
func (s *Store) KeyTimers(ctx context.Context, computation string, keys []string) ([][]store.TimerID, error) {
	found := make(map[string][]store.TimerID, len(keys))
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		if len(keys) == 0 {
			return nil
		}
		rows, err := s.sql.TimersOfKeys(ctx, db, &pgsql.TimersOfKeysParams{
			Computation: []byte(computation), Keys: onceEach(keys),
		})
		for _, r := range rows {
			key := string(r.Key)
			found[key] = append(found[key], store.TimerID{Key: key, Trigger: r.Trigger, Stream: string(r.Stream)})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]store.TimerID, len(keys))
	for i, key := range keys {
		out[i] = found[key]
	}
	return out, nil
}
