package engine

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"pgregory.net/rapid"
)

// TestOffsetsLeadBackToTheNextRow: wherever an epoch was cut, and however batches
// fall after a restart, every row is consumed once and in order (D-20).
func TestOffsetsLeadBackToTheNextRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 100
		var offset []byte
		next := int64(0) // the row that comes next
		for next < total {
			s, at := openCounting(t, offset)
			for range rapid.IntRange(1, 10).Draw(t, "epochs") {
				if len(s.batches) == 0 && at < total {
					n := min(total-at, rapid.IntRange(1, 30).Draw(t, "batch"))
					s.accept(counting(at, n))
					at += n
					continue
				}
				if len(s.batches) == 0 {
					break
				}
				rows, _ := s.hand(rapid.IntRange(1, len(s.batches[0].rows)).Draw(t, "rows"))
				for _, row := range rows {
					if row[0].AsInt64() != next {
						t.Fatalf("row %d, want %d", row[0].AsInt64(), next)
					}
					next++
				}
				offset, _ = s.take(len(rows))
			}
		}
	})
}

// openCounting opens a reader of rows 0, 1, 2, … whose offsets are row numbers.
func openCounting(t *rapid.T, offset []byte) (*sourceReader, int) {
	skip, base, err := splitOffset(offset)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	if base != nil {
		if at, err = strconv.Atoi(string(base)); err != nil {
			t.Fatal(err)
		}
	}
	return &sourceReader{base: base, taken: skip, skip: skip}, at
}

func counting(from, n int) connector.Batch {
	b := connector.Batch{Offset: []byte(strconv.Itoa(from + n))}
	for i := range n {
		b.Rows = append(b.Rows, schema.Row{schema.Int64(int64(from + i))})
	}
	return b
}

// TestPassedOverRowsCountWithTheOffsetBehindThem: malformed rows are counted once,
// in the epoch that moves the offset beyond them, also at the end of the source.
func TestPassedOverRowsCountWithTheOffsetBehindThem(t *testing.T) {
	s := &sourceReader{}
	bad := func(b connector.Batch, n int) connector.Batch {
		b.Skipped = n
		return b
	}
	s.accept(bad(counting(0, 3), 1))
	s.accept(bad(counting(3, 0), 10)) // all rows were malformed
	if _, n := s.take(2); n != 0 {
		t.Errorf("%d rows count before the offset is behind them", n)
	}
	if offset, n := s.take(1); n != 11 || string(offset) != "\x003" {
		t.Errorf("offset %q counts %d rows, want 11", offset, n)
	}
	if offset, _ := s.take(0); offset != nil {
		t.Errorf("offset %q is told twice", offset)
	}
	s.accept(bad(counting(4, 0), 100))
	if offset, n := s.take(0); n != 100 || string(offset) != "\x004" {
		t.Errorf("offset %q counts %d rows at the end, want 100", offset, n)
	}
}

// TestGapBeforeTheConsumedPositionRepeatsNothing: rows that were trimmed inside a
// batch of which a part is consumed do not shift what is skipped at a restart.
func TestGapBeforeTheConsumedPositionRepeatsNothing(t *testing.T) {
	for _, c := range []struct{ trimmed, next int64 }{{3, 10}, {10, 10}, {12, 12}} {
		s := &sourceReader{base: []byte("0"), taken: 10, skip: 10, told: countingPositions{}}
		s.accept(connector.Batch{Gap: "trimmed", Offset: []byte(strconv.FormatInt(c.trimmed, 10))})
		s.accept(counting(int(c.trimmed), 20))
		if rows, _ := s.hand(1); rows[0][0].AsInt64() != c.next {
			t.Errorf("trimmed to %d: row %d comes next, want %d", c.trimmed, rows[0][0].AsInt64(), c.next)
		}
	}
}

// TestNothingMovesTheOffsetAfterADrain: a batch that was dropped is read again by
// the next job, whatever the read that was under way brings: also the end, which
// comes without rows.
func TestNothingMovesTheOffsetAfterADrain(t *testing.T) {
	s := &sourceReader{}
	s.accept(counting(0, 10))
	if offset, _ := s.take(4); string(offset) != "\x04" {
		t.Fatalf("offset %q", offset)
	}
	s.drain()
	end := counting(10, 0)
	end.End, end.Skipped = true, 3
	s.accept(end)
	s.accept(counting(10, 5))
	if offset, n := s.take(0); offset != nil || n != 0 {
		t.Errorf("offset %q and %d rows passed over are told after the drain", offset, n)
	}
}

// countingPositions tells positions for offsets that are row numbers.
type countingPositions struct{}

func (countingPositions) Position(_ string, offset []byte, taken int) (store.QueuePosition, error) {
	at, err := strconv.Atoi(string(offset))
	return store.QueuePosition{Offset: uint64(at + taken)}, err
}

// TestRefusedRowsCountWithTheRowsTakenWithThem: a row that cannot be used is told
// with its place in the batch as it was read, and counted once.
func TestRefusedRowsCountWithTheRowsTakenWithThem(t *testing.T) {
	s := &sourceReader{skip: 2, taken: 2}
	b := counting(0, 6)
	b.PassOver = true
	b.Explain = func(i int, why error) error { return fmt.Errorf("line %d: %w", i+1, why) }
	s.accept(b)
	s.take(1)
	why := errors.New("no key")
	passedOver, err := s.refuse(1, why)
	if !passedOver || err.Error() != "line 5: no key" || !errors.Is(err, connector.ErrMalformed) || !errors.Is(err, why) {
		t.Errorf("passed over: %v, %v", passedOver, err)
	}
	if offset, n := s.take(2); n != 1 || string(offset) != "\x05" {
		t.Errorf("offset %q counts %d rows, want 1", offset, n)
	}
	s = &sourceReader{}
	s.accept(counting(0, 1))
	if passedOver, err := s.refuse(0, why); passedOver || err.Error() != "row [0]: no key" {
		t.Errorf("passed over: %v, %v", passedOver, err)
	}
}
