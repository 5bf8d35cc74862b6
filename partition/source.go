package partition

import "github.com/rondo-flow/rondo/store"

// sourceState follows the batches that the driver holds: the one that epochs
// take from, and one that is read ahead.
type sourceState struct {
	id        string
	batches   []batch
	reading   bool
	ended     bool // the end was read
	stopped   bool // draining: no new input
	watermark int64
	taken     uint64  // rows
	bound     int64   // what rows may be late by
	selfTimed bool    // the watermark is what batches say
	aligned   Aligned // how far it may be ahead
	delayed   Delayed // how late the events of a batch may be
}

func newSource(cfg Config) sourceState {
	return sourceState{id: cfg.Source, watermark: store.NoTime, bound: int64(cfg.OutOfOrder), selfTimed: cfg.SelfTimed, aligned: Aligned{Limit: endOfTime}, delayed: Delayed{Limit: endOfTime}}
}

// ahead tells that the source waits for others of its group.
func (s *sourceState) ahead() bool { return s.watermark > s.aligned.Limit }

// early tells that the batch in hand waits for other streams.
func (s *sourceState) early() bool {
	return len(s.batches) > 0 && s.batches[0].maxEvent > s.delayed.Limit
}

type batch struct {
	rows, bytes int
	maxEvent    int64
	watermark   int64 // behind it
}

const readAhead = 2

// next asks for a batch while there is room for one.
func (s *sourceState) next(p Params) *ReadSource {
	if s.id == "" || s.reading || s.ended || s.stopped || len(s.batches) >= readAhead {
		return nil
	}
	return &ReadSource{Rows: p.MaxRows, Bytes: p.MaxBytes}
}

func (s *sourceState) read(e SourceRead) {
	s.reading = false
	if s.stopped {
		return
	}
	s.ended = s.ended || e.End
	switch last := len(s.batches) - 1; {
	case e.Rows > 0:
		s.batches = append(s.batches, batch{e.Rows, e.Bytes, e.MaxEvent, e.Watermark})
	case last >= 0:
		s.batches[last].watermark = max(s.batches[last].watermark, e.Watermark)
	default:
		s.passed(e.Watermark)
	}
}

// rows is what the next epoch takes: the rest of the batch in hand.
func (s *sourceState) rows() int {
	if len(s.batches) == 0 {
		return 0
	}
	return s.batches[0].rows
}

func (s *sourceState) take(n int, event int64) {
	if !s.selfTimed {
		s.watermark = max(s.watermark, earlier(event, s.bound))
	}
	if n == 0 {
		return
	}
	s.taken += uint64(n)
	s.batches[0].rows -= n
	if s.batches[0].rows == 0 {
		s.passed(s.batches[0].watermark)
		s.batches = s.batches[1:]
	}
}

// passed notes the watermark behind everything that is taken.
func (s *sourceState) passed(watermark int64) {
	if s.selfTimed {
		s.watermark = max(s.watermark, watermark)
	}
}

// drain drops what was read and not consumed: it is read again by the next job, and
// the end after it, if that was read too.
func (s *sourceState) drain() {
	s.stopped = true
	s.ended = s.ended && len(s.batches) == 0
	s.batches = nil
}

// state is the state of the source stream when no epoch is open.
func (s *sourceState) state() store.StreamState {
	switch {
	case s.ended && len(s.batches) == 0:
		return store.Finished
	case s.stopped:
		return store.Drained
	default:
		return store.Active
	}
}
