package pebblestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// fillTimers writes both rows of each timer. Only the partition's own commits
// touch its timers, so what is read here under its lock is what is true.
func (s *Store) fillTimers(b *pebble.Batch, computation uint64, c *store.Commit) error {
	if len(c.TimersGone)+len(c.TimersSet) == 0 {
		return nil
	}
	rows, index := computationPrefix(kindTimer, computation), computationPrefix(kindKeyTimer, computation)
	var row, of []byte
	for _, id := range c.TimersGone {
		row, of = appendTimerKey(row[:0], rows, id), appendKeyTimer(of[:0], index, id)
		remove(b, row)
		remove(b, of)
	}
	for _, t := range c.TimersSet {
		row, of = appendTimerKey(row[:0], rows, t.TimerID), appendKeyTimer(of[:0], index, t.TimerID)
		_, gone := slices.BinarySearchFunc(c.TimersGone, t.TimerID, store.TimerID.Compare)
		if err := s.setTimer(b, row, of, t.Event, gone); err != nil {
			return err
		}
	}
	return nil
}

// setTimer keeps the smaller event timestamp, unless the timer that is there goes
// in the same commit.
func (s *Store) setTimer(b *pebble.Batch, row, of []byte, event int64, gone bool) error {
	if !gone {
		value, err := s.get(row)
		if err != nil {
			return err
		}
		if value != nil {
			former, err := timerEvent(value)
			if err != nil || former <= event {
				return err
			}
		}
	}
	var buf [binary.MaxVarintLen64]byte
	put(b, row, binary.AppendVarint(buf[:0], event))
	put(b, of, nil)
	return nil
}

func timerEvent(value []byte) (int64, error) {
	f := fields{rest: value}
	event := f.int()
	return event, f.end("timer")
}

// KeyTimers reads the second rows.
func (s *Store) KeyTimers(ctx context.Context, computation string, keys []string) ([][]store.TimerID, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	out := make([][]store.TimerID, len(keys))
	prefix, ok := s.computation(kindKeyTimer, computation)
	if !ok {
		return out, nil
	}
	for i, key := range keys {
		err := s.scan(append(bytes.Clone(prefix), key...), func(row, _ []byte) error {
			rest := row[len(prefix)+len(key):]
			if len(rest) < 8 {
				return corrupt("the row %x of a key's timers is too short", row)
			}
			out[i] = append(out[i], store.TimerID{Key: key, Trigger: triggerOf(rest), Stream: string(rest[8:])})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ListTimers merges the slots of the range.
func (s *Store) ListTimers(ctx context.Context, r store.TimerRequest) (*store.TimerAnswer, error) {
	m := timerMerge{timerScan: timerScan{request: r}}
	m.visit = m.add
	if err := s.scanTimers(ctx, &m.timerScan); err != nil {
		return nil, err
	}
	m.cut()
	return &store.TimerAnswer{Timers: m.found, End: !m.more}, nil
}

// LeastTimerEvent reads the whole range.
func (s *Store) LeastTimerEvent(ctx context.Context, r store.TimerRequest) (least int64, any bool, err error) {
	rows := 0
	scan := timerScan{request: r}
	scan.visit = func(_ timerRow, value []byte) error {
		event, err := timerEvent(value)
		if !any || event < least {
			least, any = event, true
		}
		if rows++; rows%ctxEvery == 0 {
			err = errors.Join(err, ctx.Err())
		}
		return err
	}
	return least, any, s.scanTimers(ctx, &scan)
}

// ctxEvery is after how many rows a long read asks whether it is still wanted.
const ctxEvery = 10_000

// scanTimers reads with one iterator, which does not outlive the call.
func (s *Store) scanTimers(ctx context.Context, scan *timerScan) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	var ok bool
	if scan.prefix, ok = s.computation(kindTimer, scan.request.Computation); !ok {
		return nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: scan.prefix, UpperBound: upperBound(scan.prefix)})
	if err != nil {
		return s.classify(err)
	}
	scan.it = it
	return s.classify(errors.Join(scan.read(), it.Close()))
}

// timerScan reads the timers of a request slot by slot, each in order.
type timerScan struct {
	request store.TimerRequest
	visit   func(row timerRow, value []byte) error
	prefix  []byte
	it      *pebble.Iterator
	seek    []byte
	// ends: nothing at or beyond beyond is wanted.
	ends   bool
	beyond store.TimerPlace
}

func (m *timerScan) read() error {
	slot, end := store.TimerSlotsOf(m.request.Lower, m.request.Upper)
	for slot < end {
		next, err := m.readSlot(slot)
		if err != nil {
			return err
		}
		slot = next
	}
	return nil
}

// readSlot reads one slot and returns the next one to read, which spares seeks
// where slots are empty.
func (m *timerScan) readSlot(slot int) (next int, err error) {
	m.seek = appendTimerPlace(m.seek[:0], m.prefix, slot, m.request.After)
	for ok := m.it.SeekGE(m.seek); ok; ok = m.it.Next() {
		row, err := timerRowOf(m.it.Key()[len(m.prefix):])
		switch {
		case err != nil:
			return 0, err
		case row.slot != slot:
			return row.slot, nil
		case m.ends && row.compare(m.beyond) >= 0:
			return slot + 1, nil
		case !m.wants(row):
			continue
		}
		value, err := m.it.ValueAndErr()
		if err == nil {
			err = m.visit(row, value)
		}
		if err != nil {
			return 0, err
		}
	}
	return store.TimerSlots, m.it.Error()
}

func (m *timerScan) wants(row timerRow) bool {
	r := &m.request
	return string(row.stream) == r.Stream && string(row.key) >= r.Lower &&
		(r.Upper == "" || string(row.key) < r.Upper) && row.compare(r.After) > 0
}

// timerMerge collects the first timers of a scan. Each slot is read only as long as
// its rows may still belong to the answer, of which no more than twice is held.
type timerMerge struct {
	timerScan
	found []store.Timer
	bytes int
	more  bool // something was left out
}

func (m *timerMerge) add(row timerRow, value []byte) error {
	event, err := timerEvent(value)
	t := store.Timer{TimerID: store.TimerID{Key: string(row.key), Trigger: row.trigger, Stream: m.request.Stream}, Event: event}
	m.found = append(m.found, t)
	m.bytes += t.Size()
	if m.full(len(m.found)/2, m.bytes/2) {
		m.cut()
	}
	return err
}

func (m *timerMerge) full(rows, bytes int) bool {
	return m.request.MaxRows > 0 && rows > m.request.MaxRows || m.request.MaxBytes > 0 && bytes > m.request.MaxBytes
}

// cut sorts what was found and leaves out what is over the limits.
func (m *timerMerge) cut() {
	slices.SortFunc(m.found, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	m.bytes = 0
	for i := range m.found {
		size := m.found[i].Size()
		if i > 0 && m.full(i+1, m.bytes+size) {
			m.more, m.ends, m.beyond = true, true, m.found[i].Place()
			m.found = m.found[:i]
			return
		}
		m.bytes += size
	}
}
