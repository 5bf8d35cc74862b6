package visit

import "time"

// Rate is a number per second that may not be known yet; unknown differs from
// zero.
type Rate struct {
	PerSecond float64
	Known     bool
}

// Counters count the keys of a pass (KV-16).
type Counters struct {
	// Seen are keys listed in ranges that are committed now; when a pass is
	// complete it equals the sum of the other three.
	Seen, Delivered, Failed, Gone uint64
}

// Summary describes one completed pass.
type Summary struct {
	Pass uint64
	// Start is the wall time at which the first slice was read (or the pass
	// began, if that never happened) and End the time it was complete, in unix
	// nanoseconds.
	Start, End int64
	Final      bool
	Counters
}

// Problem is an error state of the stream.
type Problem struct {
	// Path is where it shows, such as /key_visitor/sweep/scan_cap_stall.
	Path string
	// Message says what is wrong and what to do.
	Message string
}

// BucketStatus describes one bucket in the running pass.
type BucketStatus struct {
	Range Range
	// Progress is the committed fraction.
	Progress float64
	// Stalled says that a single key of it does not fit in the row cap (KV-21).
	Stalled bool
}

// Status describes a stream at one moment.
type Status struct {
	Stream                           string
	Range                            Range
	Pass                             uint64
	Final, Empty, Suspended, Enabled bool
	// PassStart is the wall time of the pass's first read in unix nanoseconds, 0
	// before it.
	PassStart int64
	// Progress is the committed fraction of the pass, Scanned the fraction that
	// is read.
	Progress, Scanned float64
	Buckets           []BucketStatus
	// Lag is how far the scan is behind its schedule (KV-45); CatchUp says that
	// slices are widened for it.
	Lag     time.Duration
	CatchUp bool
	// Left is the time the running pass is expected to take from now on;
	// meaningful if LeftKnown.
	Left      time.Duration
	LeftKnown bool
	// MaxAge bounds the time since the least recently visited key was visited,
	// by what this partition's summaries tell (KV-48).
	MaxAge time.Duration
	// Ready are the buffered visits and ReadyBytes the size of their rows.
	Ready, ReadyBytes int
	// Offered is the number of visits per second the scan is planned to supply
	// (KV-47); Processed counts visits in committed epochs.
	Offered, Processed Rate
	// Pace is achieved divided by target pace.
	Pace Rate
	// Pass's counters so far, committed epochs only.
	Counters
	// BytesRead is what sources read for this Visitor.
	BytesRead uint64
	// Problems are the stream's error states, sorted by path.
	Problems []Problem
}
