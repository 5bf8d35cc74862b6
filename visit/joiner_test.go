package visit

import (
	"fmt"
	"slices"
	"testing"
)

// fakeTable is a sorted table that is read forward in blocks, as a static table
// joiner reads it: one position for each bucket, and rows that were read
// beyond a slice wait for the next (KV-20, KV-51).
type fakeTable struct {
	keys    []Key
	block   int
	buckets map[int]*position
	read    int // rows read from the file, repeats included
	opened  int // how often a position was set anew
}

// position is how far a bucket is read.
type position struct {
	low   Bound // rows from here on are in ahead, as far as they are read
	next  int   // the first row that is not read
	ahead []Key
}

func newFakeTable(keys []Key, block int) *fakeTable {
	return &fakeTable{keys: keys, block: block, buckets: map[int]*position{}}
}

// list returns the table's keys of a slice.
func (f *fakeTable) list(l List) []Key {
	p := f.at(l)
	p.low = l.Range.Lower
	p.ahead = slices.DeleteFunc(p.ahead, func(k Key) bool { return !p.low.atOrBefore(k) })
	for p.next < len(f.keys) && (len(p.ahead) == 0 || l.Range.Contains(p.ahead[len(p.ahead)-1])) {
		n := min(f.block, len(f.keys)-p.next)
		p.ahead = append(p.ahead, f.keys[p.next:p.next+n]...)
		p.next += n
		f.read += n
	}
	var out []Key
	for _, k := range p.ahead {
		if l.Range.Contains(k) {
			out = append(out, k)
		}
	}
	return out
}

// at returns the bucket's position; a jump back, as a new pass makes, or one
// over rows that nobody asks for opens the file anew.
func (f *fakeTable) at(l List) *position {
	p := f.buckets[l.Bucket]
	if p == nil || l.Range.Lower.Compare(p.low) < 0 {
		next := slices.IndexFunc(f.keys, l.Range.Lower.atOrBefore)
		if next < 0 {
			next = len(f.keys)
		}
		p = &position{next: next}
		f.buckets[l.Bucket] = p
		f.opened++
	}
	return p
}

// answer returns the table's answer to a list, capped in rows.
func (f *fakeTable) answer(l List, rows func(Key) any) Answer {
	var a Answer
	for _, k := range f.list(l) {
		if a.Rows == l.MaxRows {
			break
		}
		a.Rows++
		a.Keys = append(a.Keys, Found{Key: k, Rows: rows(k)})
	}
	return a
}

// TestReadAheadOutlivesCuts unites dense state, whose lists are always cut by
// the row cap, with a table that is read forward: every key of both is visited
// once, and the table is read about once a pass.
func TestReadAheadOutlivesCuts(t *testing.T) {
	for _, block := range []int{1, 7, 40} {
		t.Run(fmt.Sprintf("KV-20 with blocks of %d", block), func(t *testing.T) {
			r := newRig(spaced(1, 99), func(c *Config, p *Params) { c.Sources, c.Buckets, p.MaxScanRows = 2, 3, 4 })
			var keys []Key
			for h := uint64(2); h < 99; h += 3 {
				keys = append(keys, key(h, "k"), key(h, "only in the table"))
			}
			f := newFakeTable(keys, block)
			r.signal()
			for !r.v.Empty() {
				l, ok := r.begin()
				if !ok {
					r.epoch(50)
					continue
				}
				answers := r.answers(l)
				answers[1] = f.answer(l, func(Key) any { return "row" })
				r.v.Listed(r.now, l.Token, answers)
			}
			want(t, "visits", len(r.visits), 99+33)
			want(t, "distinct keys", len(slices.Compact(slices.SortedFunc(slices.Values(keysOf(r.visits)), Key.Compare))), 99+33)
			withRow := 0
			for _, v := range r.visits {
				if slices.ContainsFunc(v.Parts, func(p Part) bool { return p.Rows == "row" }) {
					withRow++
				}
			}
			want(t, "visits with their row of the table", withRow, len(keys))
			want(t, "positions", f.opened, 3)
			if f.read > len(keys)+3*block {
				t.Errorf("read %d rows of a table with %d", f.read, len(keys))
			}
		})
	}
}

func keysOf(visits []Visit) (keys []Key) {
	for _, v := range visits {
		keys = append(keys, v.Key)
	}
	return keys
}
