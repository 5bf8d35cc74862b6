package visit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rig is a driver for tests: tables to scan, a scripted clock, and a store that
// keeps what epochs wrote. One rig lives through many Visitors.
type rig struct {
	cfg    Config
	params Params
	v      *Visitor
	now    Instant
	st     Stored
	tables []table  // one per source
	visits []Visit  // of all committed epochs
	lists  []List   // all that began
	writes []string // one line per epoch that wrote something
}

// table is what one source holds, in key order.
type table []tableRow

// tableRow is a key with its number of matching rows.
type tableRow struct {
	key  Key
	rows int
}

// std is the setting that the cases call STD.
func std() (Config, Params) {
	p := DefaultParams()
	p.Period = 10 * time.Millisecond
	p.FillPeriod = 50 * time.Millisecond
	p.BufferRowLimit = 100
	return Config{Stream: "sweep", Range: HashRange(1, 100), Buckets: 1, Generation: 1, Sources: 1}, p
}

// newRig starts a rig in STD with one bucket and these keys; change adjusts it
// first.
func newRig(keys table, change func(c *Config, p *Params)) *rig {
	r := &rig{tables: []table{keys}, now: Instant{Mono: time.Hour, Wall: int64(time.Hour)}}
	r.cfg, r.params = std()
	if change != nil {
		change(&r.cfg, &r.params)
	}
	for len(r.tables) < r.cfg.Sources {
		r.tables = append(r.tables, nil)
	}
	r.start()
	return r
}

// start makes a Visitor from what is stored.
func (r *rig) start() { r.v = New(r.cfg, r.params, r.st, r.now) }

// crash drops the Visitor and starts the next generation.
func (r *rig) crash() {
	r.cfg.Generation++
	r.start()
}

// tick moves both clocks.
func (r *rig) tick(d time.Duration) {
	r.now.Mono += d
	r.now.Wall += int64(d)
}

// begin accepts the next list if there is one.
func (r *rig) begin() (List, bool) {
	l, ok := r.v.NextList(r.now)
	if ok {
		r.v.AcceptList(r.now, l)
		r.lists = append(r.lists, l)
	}
	return l, ok
}

// answers reads the tables for a list, as a source does: up to its cap of rows,
// the last key included even where that cuts it.
func (r *rig) answers(l List) []Answer {
	out := make([]Answer, len(r.tables))
	for i, t := range r.tables {
		a := &out[i]
		for _, row := range t {
			if !l.Range.Contains(row.key) || a.Rows == l.MaxRows {
				continue
			}
			n := min(row.rows, l.MaxRows-a.Rows)
			a.Rows += n
			a.Bytes += 10 * n
			a.Keys = append(a.Keys, Found{Key: row.key, Rows: n, Bytes: 10 * n})
		}
	}
	return out
}

// fill reads as long as lists are offered at this instant.
func (r *rig) fill() {
	for {
		l, ok := r.begin()
		if !ok {
			return
		}
		r.v.Listed(r.now, l.Token, r.answers(l))
	}
}

// epoch takes up to n visits in an epoch of their own.
func (r *rig) epoch(n int) []Visit {
	r.v.EpochOpened(r.now)
	visits := r.v.NextVisits(r.now, nil, n)
	r.v.AcceptVisits(r.now, Outcome{Delivered: len(visits)})
	r.commit()
	r.visits = append(r.visits, visits...)
	return visits
}

// commit stores the open epoch.
func (r *rig) commit() {
	d := r.v.Delta()
	r.store(d)
	r.v.EpochCommitted(r.now)
}

// sync commits an epoch without visits.
func (r *rig) sync() {
	r.v.EpochOpened(r.now)
	r.commit()
}

// store applies a delta.
func (r *rig) store(d Delta) {
	if !d.Empty() {
		r.writes = append(r.writes, d.String())
	}
	if d.Remove {
		r.st = Stored{Summaries: r.st.Summaries}
	}
	if d.Record != nil {
		r.st.Record = d.Record
	}
	if d.Summaries != nil {
		r.st.Summaries = d.Summaries
	}
	buckets := map[int][]byte{}
	for i, row := range r.st.Buckets {
		buckets[i] = row
	}
	for _, row := range d.Buckets {
		if row.Value == nil {
			delete(buckets, row.Index)
		} else {
			buckets[row.Index] = row.Value
		}
	}
	r.st.Buckets = buckets
}

// drain collects n visits in batches, letting time pass as ticks of step, and
// gives up after a thousand of them.
func (r *rig) drain(n, batch int, step time.Duration) []Visit {
	var out []Visit
	for i := 0; i < 1000 && len(out) < n; i++ {
		r.fill()
		got := r.epoch(min(batch, n-len(out)))
		out = append(out, got...)
		if len(got) == 0 {
			r.tick(step)
		}
	}
	return out
}

// polls lets a few ticks pass with an eager consumer and returns what it got.
func (r *rig) polls(n int, step time.Duration) []Visit {
	var out []Visit
	for range n {
		r.fill()
		out = append(out, r.epoch(100)...)
		r.tick(step)
	}
	return out
}

// problem returns the message at a leaf of the stream's status path.
func (r *rig) problem(leaf string) string {
	for _, p := range r.v.Status(r.now).Problems {
		if p.Path == "/key_visitor/"+r.cfg.Stream+"/"+leaf {
			return p.Message
		}
	}
	return ""
}

// key makes the key hash:text.
func key(hash uint64, text string) Key { return Key{Hash: hash, Bytes: text} }

// spaced returns keys step, 2*step, ... up to last, one row each.
func spaced(step, last uint64) table { return rowsOf(1, step, last) }

// rowsOf is spaced with several rows per key.
func rowsOf(rows int, step, last uint64) table {
	var t table
	for h := step; h <= last; h += step {
		t = append(t, tableRow{key(h, "k"), rows})
	}
	return t
}

// hashes prints the hashes of visits in the order delivered.
func hashes(visits []Visit) string {
	var s []string
	for _, v := range visits {
		s = append(s, strconv.FormatUint(v.Key.Hash, 10))
	}
	return strings.Join(s, " ")
}

// sortedHashes prints them in ascending order.
func sortedHashes(visits []Visit) string {
	sorted := slices.Clone(visits)
	slices.SortFunc(sorted, func(a, b Visit) int { return a.Key.Compare(b.Key) })
	return hashes(sorted)
}

// want fails the test unless both print alike.
func want(t *testing.T, what string, got, expected any) {
	t.Helper()
	if g, e := fmt.Sprint(got), fmt.Sprint(expected); g != e {
		t.Errorf("%s: got %s, want %s", what, g, e)
	}
}
