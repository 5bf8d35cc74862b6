package visit

import (
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/internal/invariants"
)

// check panics if what the types promise does not hold. It runs after every
// change in builds with the tag invariants or the race detector.
func (v *Visitor) check() {
	if !invariants.Enabled {
		return
	}
	for i := range v.cover.buckets {
		v.cover.buckets[i].check()
		v.checkBuffered(i)
	}
	if f := v.fill.flight; f != nil && !f.discard && !v.isPending(f) {
		panic(fmt.Sprintf("visit: the slice %s in flight is not pending: %s", f.list.Range, &v.cover))
	}
	if !v.epoch.open && v.cover.has(taken) {
		panic(fmt.Sprintf("visit: taken intervals without an open epoch: %s", &v.cover))
	}
	if total := v.epoch.counters; total.Seen != total.Delivered+total.Failed+total.Gone {
		panic(fmt.Sprintf("visit: the epoch's counters do not add up: %s", total))
	}
}

// check verifies that parts cover the bucket in order and are joined.
func (b *bucket) check() {
	at := b.rng.Lower
	for i, p := range b.parts {
		if p.Lower != at || p.Empty() || i > 0 && b.parts[i-1].state == p.state {
			panic(fmt.Sprintf("visit: interval %s of bucket %s is out of place in %v", p.Range, b.rng, b.parts))
		}
		at = p.Upper
	}
	if at != b.rng.Upper {
		panic(fmt.Sprintf("visit: bucket %s is covered only to %s", b.rng, at))
	}
}

// checkBuffered verifies that what is buffered of a bucket is what its chunks
// hold, in key order.
func (v *Visitor) checkBuffered(i int) {
	var chunks, marks []Range
	for _, c := range v.buffer.buckets[i].live() {
		if n := len(chunks); n > 0 && chunks[n-1].Upper.Compare(c.rng.Lower) > 0 || c.left() == 0 {
			panic(fmt.Sprintf("visit: chunk %s of bucket %d is empty or out of order", c.rng, i))
		}
		chunks = append(chunks, c.rng)
	}
	for _, p := range v.cover.buckets[i].parts {
		if p.state == buffered {
			marks = append(marks, p.Range)
		}
	}
	if !slices.Equal(Union(chunks...), marks) {
		panic(fmt.Sprintf("visit: bucket %d buffers %s but its chunks hold %s", i, marks, chunks))
	}
}

// isPending says whether the whole slice of a flight is pending.
func (v *Visitor) isPending(f *flight) bool {
	for _, p := range v.cover.buckets[f.list.Bucket].parts {
		if p.state != pending && !p.Intersect(f.list.Range).Empty() {
			return false
		}
	}
	return true
}
