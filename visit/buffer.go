package visit

import (
	"slices"
	"time"
)

// chunk is a slice that was read, with the visits that came of it. All of them
// share one reading of the clock (KV-45).
type chunk struct {
	bucket        int
	rng           Range // what is left of it: visits taken move Lower on
	list          uint64
	listed        time.Duration
	system, event int64
	entries       []entry
	parts         []Part
	unknown       []int // sources
	next          int   // entries before it are taken
}

// left is the number of visits that are not taken.
func (c *chunk) left() int { return len(c.entries) - c.next }

// visit fills in the i-th visit of the chunk. The announced watermark wins over
// the event time (KV-46).
func (c *chunk) visit(v *Visit, i int, watermark int64) {
	e := &c.entries[i]
	v.Key, v.Stale = e.key, e.stale
	v.Parts = c.parts[e.first : e.first+e.count : e.first+e.count]
	v.Unknown = c.unknown
	v.System, v.Event = c.system, max(c.event, watermark)
	v.List, v.Index = c.list, i
}

// touch marks the visit of key, if the chunk has it, as stale.
func (c *chunk) touch(key Key) {
	i, ok := slices.BinarySearchFunc(c.entries, key, func(e entry, k Key) int { return e.key.Compare(k) })
	if ok {
		c.entries[i].stale = true
	}
}

// take removes the first n visits and returns the range they finish, the whole
// rest with the last visit, else up to the first remaining key (KV-11), and the
// size of their rows.
func (c *chunk) take(n int) (done Range, bytes int) {
	bytes = sizeOf(c.entries[c.next : c.next+n])
	c.next += n
	done = c.rng
	if c.left() > 0 {
		done.Upper = At(c.entries[c.next].key)
	}
	c.rng.Lower = done.Upper
	return done, bytes
}

// buffer holds the chunks in the order read.
//
// All chunks belong to one pass, because a pass rotates only when everything is
// committed, and each bucket is read from its lowest pending key on; so the
// chunks of a bucket are in key order, which touch relies on.
type buffer struct {
	chunks  queue[*chunk]
	buckets []queue[*chunk]
	// earliest holds the event times that are a minimum of all later ones, so
	// the first is the minimum of the buffer.
	earliest queue[stamp]
	visits   int
	bytes    int
}

// stamp is the event time of a list's chunk.
type stamp struct {
	list  uint64
	event int64
}

// push appends a chunk.
func (b *buffer) push(c *chunk) {
	b.chunks.push(c)
	b.buckets[c.bucket].push(c)
	for b.earliest.len() > 0 && b.earliest.last().event >= c.event {
		b.earliest.dropLast()
	}
	b.earliest.push(stamp{list: c.list, event: c.event})
	b.visits += len(c.entries)
	b.bytes += sizeOf(c.entries)
}

// head returns the first chunk; there must be one.
func (b *buffer) head() *chunk { return *b.chunks.at(0) }

// take removes the first visits, at most n and only of the first chunk, and
// returns how many, the bucket, and the range they finish.
func (b *buffer) take(n int) (count, bucket int, done Range) {
	c := b.head()
	count = min(n, c.left())
	done, bytes := c.take(count)
	b.visits -= count
	b.bytes -= bytes
	if c.left() == 0 {
		b.pop(c)
	}
	return count, c.bucket, done
}

// pop drops the first chunk c, which is also the first of its bucket.
func (b *buffer) pop(c *chunk) {
	b.chunks.pop()
	b.buckets[c.bucket].pop()
	if b.earliest.len() > 0 && b.earliest.at(0).list == c.list {
		b.earliest.pop()
	}
}

// event returns the smallest event time in the buffer.
func (b *buffer) event() (int64, bool) {
	if b.earliest.len() == 0 {
		return 0, false
	}
	return b.earliest.at(0).event, true
}

// touch marks a buffered visit of key as stale.
func (b *buffer) touch(bucket int, key Key) {
	chunks := b.buckets[bucket].live()
	i, _ := slices.BinarySearchFunc(chunks, At(key), func(c *chunk, at Bound) int {
		if c.rng.Upper.Compare(at) <= 0 {
			return -1
		}
		return 1
	})
	if i < len(chunks) {
		chunks[i].touch(key)
	}
}

// clear drops everything.
func (b *buffer) clear() {
	b.chunks.clear()
	b.earliest.clear()
	for i := range b.buckets {
		b.buckets[i].clear()
	}
	b.visits, b.bytes = 0, 0
}
