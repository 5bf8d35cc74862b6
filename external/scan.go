package external

import (
	"context"
	"errors"
)

// Scan lists slices for one visit stream of one partition. It serves one
// goroutine at a time.
type Scan struct {
	joiner  *Joiner
	buckets map[int]*position
}

// Answer is what the table has of a slice.
type Answer struct {
	// Entries are the rows in key order. They are shared and must not be changed.
	Entries []*Entry
	// CompleteTo is the key up to which they are all, "" for the slice's end.
	CompleteTo string
	// Unreadable: the slice could not be read, so all of it is unknown. There are
	// no entries.
	Unreadable bool
	// Doubtful: the table shrank by so much that keys it does not have are unknown
	// (KV-55).
	Doubtful bool
}

// maxAhead bounds what all scans of a joiner keep of slices that may be read again.
// Each has an equal share; minAhead is the least that is worth keeping.
const (
	maxAhead = 64 << 20
	minAhead = 256 << 10
)

// List lists a slice. Its error is for the policy retry: the slice is to be listed
// again (KV-53).
func (s *Scan) List(ctx context.Context, sl Slice) (Answer, error) {
	j := s.joiner
	if err := j.ask(); err != nil {
		return j.answerFor(err)
	}
	var err error
	for range j.attempts() {
		var a Answer
		if a, err = s.try(ctx, &sl); err == nil {
			j.heal()
			return a, nil
		}
		s.drop(sl.Bucket)
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		j.failedRead()
		if errors.Is(err, ErrMalformed) {
			break
		}
	}
	j.fail(err)
	return j.answerFor(err)
}

// try lists a slice once. A table that is another one afterwards has not been
// read (KV-55).
func (s *Scan) try(ctx context.Context, sl *Slice) (Answer, error) {
	v, doubtful, err := s.joiner.acquire(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer s.joiner.release(v)
	s.dropOthers(v)
	entries, to, err := s.entries(ctx, v, sl)
	replaced := errors.Is(err, ErrReplaced)
	if err != nil && !replaced {
		return Answer{}, s.joiner.named(err)
	}
	if !replaced && v.stored == nil { // a list in the store tells it itself
		same, err := s.joiner.still(ctx, v)
		if err != nil {
			return Answer{}, err
		}
		replaced = !same
	}
	if replaced {
		s.drop(sl.Bucket)
		return Answer{Unreadable: true}, nil
	}
	s.trim()
	s.joiner.listed.Add(int64(len(entries)))
	return Answer{Entries: entries, CompleteTo: to, Doubtful: doubtful}, nil
}

// entries lists a slice of a version.
func (s *Scan) entries(ctx context.Context, v *version, sl *Slice) ([]*Entry, string, error) {
	if v.stored != nil {
		return s.joiner.source.listStored(ctx, v, sl)
	}
	p, err := s.at(v, sl)
	if err != nil {
		return nil, "", err
	}
	return p.list(ctx, sl)
}

// at returns the position of a bucket, a new one after a jump back or over much. All
// positions are of the version.
func (s *Scan) at(v *version, sl *Slice) (*position, error) {
	if p := s.buckets[sl.Bucket]; p.reaches(sl) {
		return p, nil
	}
	s.drop(sl.Bucket)
	s.joiner.opens.Add(1)
	w, err := newWalk(v.content, v.keyed, sl.Lower)
	if err != nil {
		return nil, err
	}
	s.joiner.hold(v)
	p := &position{version: v, walk: w, low: sl.Lower}
	s.buckets[sl.Bucket] = p
	return p, nil
}

// dropOthers gives up the positions in versions that were replaced. Their buckets may
// not be listed again for a pass, and meanwhile they would keep the files open.
func (s *Scan) dropOthers(v *version) {
	for b, p := range s.buckets {
		if p.version != v {
			s.drop(b)
		}
	}
}

// drop gives up the position of a bucket.
func (s *Scan) drop(bucket int) {
	if p := s.buckets[bucket]; p != nil {
		delete(s.buckets, bucket)
		_ = p.walk.cursor.close() // it was read only
		s.joiner.release(p.version)
	}
}

// trim gives up the positions that keep most, until all together keep little
// enough. They are found again, at the price of some reading.
func (s *Scan) trim() {
	for {
		total, largest := 0, -1
		for b, p := range s.buckets {
			total += p.bytes
			if l := s.buckets[largest]; l == nil || p.bytes > l.bytes || p.bytes == l.bytes && b < largest {
				largest = b
			}
		}
		if total <= s.share() {
			return
		}
		s.drop(largest)
	}
}

// share is how many bytes the scan may keep.
func (s *Scan) share() int { return max(minAhead, maxAhead/int(s.joiner.scans.Load())) }

// Close lets go of everything. It is called once, after the last List returned.
func (s *Scan) Close() {
	s.joiner.scans.Add(-1)
	for b := range s.buckets {
		s.drop(b)
	}
}
