package visit

import "math"

// noWatermark is the announced watermark before there is one.
const noWatermark = math.MinInt64

// record is what is stored of a pass beside its coverage (KV-16).
type record struct {
	pass      uint64
	start     int64 // wall time of the first read, 0 before it
	anchor    int64 // of the schedule; the running pass keeps it there
	rested    int64 // until when the schedule went on, 0 if it does: the stream is disabled
	previous  int64 // start of the pass before, 0 if there was none
	watermark int64 // announced so far, noWatermark if never
	final     bool
	counters  Counters
	run       Run      // the last run-now command that was obeyed
	running   bool     // the pass is that of run
	found     []string // listed names under which a row was found, sorted
}

// add counts the outcome of visits; every visit was one key seen.
func (c *Counters) add(o Outcome) {
	c.Delivered += uint64(o.Delivered)
	c.Failed += uint64(o.Failed)
	c.Gone += uint64(o.Gone)
}

// plus returns the sum of two sets of counters.
func (c Counters) plus(o Counters) Counters {
	return Counters{
		Seen:      c.Seen + o.Seen,
		Delivered: c.Delivered + o.Delivered,
		Failed:    c.Failed + o.Failed,
		Gone:      c.Gone + o.Gone,
	}
}

// keptSummaries is how many completed passes are remembered (KV-16).
const keptSummaries = 16

// Summary describes one completed pass.
type Summary struct {
	Pass uint64
	// Start is the wall time of the pass's first read and End the time at which
	// it was complete, in unix nanoseconds.
	Start, End int64
	Final      bool
	Counters
}

// newest returns the last summaries that are kept.
func newest(list []Summary) []Summary {
	return list[max(len(list)-keptSummaries, 0):]
}
