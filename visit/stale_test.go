package visit

import (
	"fmt"
	"testing"
)

// staleHashes prints the hashes of visits whose rows must be read again.
func staleHashes(r *rig) string {
	var stale []Visit
	for _, v := range r.v.NextVisits(r.now, nil, 1000) {
		if v.Stale {
			stale = append(stale, v)
		}
	}
	return hashes(stale)
}

func TestWritesMakeRowsStale(t *testing.T) {
	k := func(hash uint64) Key { return key(hash, "k") }
	t.Run("KV-22 of a list in flight", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		l, _ := r.begin()
		answers := r.answers(l)
		r.v.Touch(k(10))
		r.v.Touch(k(11))
		r.v.Touch(k(40))
		r.v.Touch(k(500))
		r.v.Listed(r.now, l.Token, answers)
		want(t, "stale", staleHashes(r), "10 40")
	})
	t.Run("KV-22 of a buffered visit", func(t *testing.T) {
		r := newRig(spaced(5, 80), func(c *Config, p *Params) { c.Buckets, p.MaxScanRows = 4, 3 }).tokens()
		r.fill()
		want(t, "buffered", r.v.Buffered(), 16)
		for _, hash := range []uint64{5, 30, 55, 80, 6, 99} {
			r.v.Touch(k(hash))
		}
		want(t, "stale", staleHashes(r), "5 30 55 80")
	})
	t.Run("KV-22 not of a write before the list", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.v.Touch(k(10))
		r.fill()
		want(t, "stale", staleHashes(r), "")
	})
	t.Run("KV-24 more writes than are remembered make everything stale", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		l, _ := r.begin()
		for i := range maxTouched + 10 {
			r.v.Touch(key(50, fmt.Sprint(i)))
		}
		want(t, "remembered", len(r.v.fill.flight.touched), maxTouched)
		r.v.Listed(r.now, l.Token, r.answers(l))
		want(t, "stale", staleHashes(r), k8)
	})
}

func TestPartsOfEverySource(t *testing.T) {
	r := newRig(table{{key(5, "a"), 1}, {key(7, "b"), 2}}, func(c *Config, _ *Params) { c.Sources = 2 })
	r.tables[1] = table{{key(7, "b"), 3}, {key(9, "c"), 4}}
	r.tokens().fill()
	var got []string
	for _, v := range r.v.NextVisits(r.now, nil, 10) {
		got = append(got, fmt.Sprint(v.Key, v.Parts))
	}
	want(t, "KV-3 parts", got, "[5:a [{0 1}] 7:b [{0 2} {1 3}] 9:c [{1 4}]]")
}

func TestUnreadableSources(t *testing.T) {
	two := func(c *Config, _ *Params) { c.Sources, c.Buckets = 2, 2 }
	t.Run("KV-52 an outage is not absence", func(t *testing.T) {
		r := newRig(spaced(10, 90), two).tokens()
		l, _ := r.begin()
		answers := r.answers(l)
		answers[1].Unreadable = true
		r.v.Listed(r.now, l.Token, answers)
		r.fill()
		for _, v := range r.v.NextVisits(r.now, nil, 100) {
			want(t, "unknown of "+v.Key.String(), fmt.Sprint(v.Unknown), map[bool]string{true: "[1]", false: "[]"}[v.Key.Hash < 51])
			want(t, "parts", v.Parts, "[{0 1}]")
		}
		want(t, "buffered", r.v.Buffered(), 9)
	})
	t.Run("KV-47 a slice that was not wholly read says nothing about density", func(t *testing.T) {
		r := newRig(spaced(10, 90), two).tokens()
		l, _ := r.begin()
		answers := r.answers(l)
		answers[1].Unreadable = true
		r.v.Listed(r.now, l.Token, answers)
		want(t, "offered", r.v.Status(r.now).Offered, "unknown")
	})
	t.Run("KV-55 a source that is not believed has the keys that it returned", func(t *testing.T) {
		r := newRig(table{{key(5, "a"), 1}}, two)
		r.tables[1] = table{{key(7, "b"), 3}}
		r.tokens()
		l, _ := r.begin()
		answers := r.answers(l)
		answers[1].Unreadable = true
		r.v.Listed(r.now, l.Token, answers)
		var got []string
		for _, v := range r.v.NextVisits(r.now, nil, 10) {
			got = append(got, fmt.Sprint(v.Key, v.Parts, v.Unknown))
		}
		want(t, "visits", got, "[5:a [{0 1}] [1] 7:b [{1 3}] [1]]")
	})
}
