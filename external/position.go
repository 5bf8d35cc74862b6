package external

import (
	"context"
	"io"
)

// Slice is a part of a bucket that is to be listed.
type Slice struct {
	// Bucket is the number of the bucket: each has a position of its own.
	Bucket int
	// Lower and Upper are encoded bounds; "" is the lowest, and the open end.
	Lower, Upper string
	// MaxRows and MaxBytes bound the entries; the first may exceed MaxBytes.
	MaxRows, MaxBytes int
}

// above tells that a key lies behind the slice.
func (s *Slice) above(key string) bool { return s.Upper != "" && key >= s.Upper }

// position reads a bucket forward. Entries that were read stay until a slice
// begins behind them: a list that another source cut shorter is followed by one
// that begins where it was cut (KV-20).
type position struct {
	version *version
	walk    *walk
	low     string // what comes from here on is in ahead, or is not read yet
	ahead   []*Entry
	bytes   int // of ahead
	end     bool
}

// reaches tells whether the position can serve a slice: not one that lies before
// what it keeps, nor one so far ahead that a new reader would read less.
func (p *position) reaches(s *Slice) bool {
	return p != nil && s.Lower >= p.low &&
		(p.end || len(p.ahead) > 0 && p.ahead[len(p.ahead)-1].Key >= s.Lower || !p.version.content.skippable(p.walk.at.row, s.Lower))
}

// list returns the entries of a slice. to is the first key that it had no room
// for, "" if it has all.
func (p *position) list(ctx context.Context, s *Slice) (entries []*Entry, to string, err error) {
	p.forget(s.Lower)
	bytes := 0
	for i := 0; ; i++ {
		if i == len(p.ahead) {
			if more, err := p.read(ctx); !more {
				return entries, "", err
			}
		}
		e := p.ahead[i]
		switch {
		case s.above(e.Key):
			return entries, "", nil
		case len(entries) == s.MaxRows, len(entries) > 0 && bytes+e.Bytes > s.MaxBytes:
			return entries, e.Key, nil
		}
		entries, bytes = append(entries, e), bytes+e.Bytes
	}
}

// forget lets go of what lies before a bound.
func (p *position) forget(lower string) {
	p.low = lower
	n := 0
	for n < len(p.ahead) && p.ahead[n].Key < lower {
		p.bytes -= p.ahead[n].Bytes
		n++
	}
	p.ahead = append([]*Entry(nil), p.ahead[n:]...)
}

// read reads one entry more; false at the end.
func (p *position) read(ctx context.Context) (bool, error) {
	for !p.end {
		e, err := p.walk.next(ctx)
		switch {
		case err == io.EOF:
			p.end = true
		case err != nil:
			return false, err
		case e.Key >= p.low:
			p.ahead, p.bytes = append(p.ahead, e), p.bytes+e.Bytes
			return true, nil
		}
	}
	return false, nil
}
