package visit

import (
	"errors"
	"fmt"
	"time"
)

// Instant is one reading of the driver's clock. Pacing follows Mono, which
// never steps; stamps that are stored or shown follow Wall.
type Instant struct {
	// Mono is monotonic time since any origin that is fixed for the process.
	Mono time.Duration
	// Wall is unix time in nanoseconds.
	Wall int64
}

// Params are a visit stream's dynamic parameters (key-visitor rules §1). They
// may change at any time, see [Visitor.Reconfigure].
type Params struct {
	// Period is the target length of one pass.
	Period time.Duration
	// FinalPassPeriod is the target length of a pass from the signal that the
	// upstreams completed; 0 reads as fast as the visits are taken (KV-34).
	FinalPassPeriod time.Duration
	// FillPeriod is the idle tick of the fill loop; 0 stands for its default,
	// 500 ms or a fortieth of the period in force if that is less.
	FillPeriod time.Duration
	// CatchupLagThreshold is the schedule lag above which slices are widened by
	// CatchupMultiplier (KV-26).
	CatchupLagThreshold time.Duration
	CatchupMultiplier   float64
	// MaxVisitsPerSecond is this partition's share of the stream's limit; 0
	// stands for no limit. It counts every key that is handed out.
	MaxVisitsPerSecond float64
	// MaxScanRows caps the rows of one list call per source (KV-19).
	MaxScanRows int
	// BufferRowLimit and BufferByteLimit stop the fill while as many visits, or
	// bytes of prefetched rows, are ready (KV-17).
	BufferRowLimit, BufferByteLimit int
	// Finite follows the upstreams to completion; else the scan never ends.
	Finite bool
	// FullFinalPass demands that the final pass began after the upstreams had
	// completed.
	FullFinalPass bool
	// Enabled false stops scanning and delivery and keeps the coverage.
	Enabled bool
}

// Tick returns the idle tick of the fill loop under the ordinary period.
func (p Params) Tick() time.Duration { return p.tick(p.Period) }

// tick returns the idle tick under the period in force.
func (p Params) tick(period time.Duration) time.Duration {
	if p.FillPeriod != 0 {
		return p.FillPeriod
	}
	return max(min(500*time.Millisecond, period/40), 1)
}

// DefaultParams returns the parameters of a stream that sets none.
func DefaultParams() Params {
	return Params{
		Period:              24 * time.Hour,
		CatchupLagThreshold: time.Minute,
		CatchupMultiplier:   1.2,
		MaxScanRows:         10_000,
		BufferRowLimit:      5_000,
		BufferByteLimit:     16 << 20,
		Finite:              true,
		FullFinalPass:       true,
		Enabled:             true,
	}
}

// longest bounds all periods, so that sums of a few of them do not overflow.
const longest = 100 * 365 * 24 * time.Hour

// Validate reports every parameter that is out of range, each by its name in
// the dynamic spec and with the values that are allowed (KV-50).
func (p Params) Validate() error {
	return errors.Join(
		check(p.Period > 0 && p.Period <= longest, "period", "be greater than 0 and at most 100 years", p.Period),
		check(p.FinalPassPeriod >= 0 && p.FinalPassPeriod <= longest, "final_pass_period", "be at least 0 and at most 100 years", p.FinalPassPeriod),
		check(p.FillPeriod >= 0 && p.FillPeriod <= longest, "background_fill_period", "be greater than 0 and at most 100 years", p.FillPeriod),
		check(p.CatchupLagThreshold >= 0, "catchup_lag_threshold", "be at least 0", p.CatchupLagThreshold),
		check(p.CatchupMultiplier > 1, "catchup_speedup_multiplier", "be greater than 1", p.CatchupMultiplier),
		check(p.MaxVisitsPerSecond >= 0, "max_visits_per_second", "be greater than 0", p.MaxVisitsPerSecond),
		check(p.MaxScanRows > 0, "max_scan_rows_per_iteration", "be greater than 0", p.MaxScanRows),
		check(p.BufferRowLimit > 0, "buffer_row_limit", "be greater than 0", p.BufferRowLimit),
		check(p.BufferByteLimit > 0, "buffer_byte_limit", "be greater than 0", p.BufferByteLimit),
	)
}

// check returns an error that says how to heal a parameter unless ok.
func check(ok bool, name, want string, got any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s must %s, got %v", name, want, got)
}

// Config is what stays fixed while a Visitor lives.
type Config struct {
	// Stream is the visit stream's id, used in status paths.
	Stream string
	// Range is the partition's key range; it must not be empty.
	Range Range
	// Buckets is the stream's bucket_count, at least 1 (KV-6).
	Buckets int
	// Generation is the partition's ownership generation. Tokens carry it, so
	// answers to a former owner's lists are told apart (D-1).
	Generation uint64
	// Sources is the number of scanned sources, at least 1: every list gets one
	// answer from each, and their keys are united (KV-3).
	Sources int
	// NoUpstreams says that the stream waits for nothing, so that its final pass
	// keeps the ordinary period (KV-34).
	NoUpstreams bool
	// FirstTick delays the first list. Drivers spread it over a tick, evenly by
	// partition, so that partitions do not move in lock-step (KV-26); see
	// [Params.Tick].
	FirstTick time.Duration
	// Names are the listed names (names and external_names) that Answer.Names
	// speaks of; nil if nobody asks whether they were found (KV-2).
	Names []string
}

// validate reports why a Visitor cannot be made from c.
func (c Config) validate() error {
	return errors.Join(
		check(!c.Range.Empty(), "range", "not be empty", c.Range),
		check(c.Buckets > 0, "bucket_count", "be at least 1", c.Buckets),
		check(c.Sources > 0, "sources", "be at least 1", c.Sources),
		check(c.FirstTick >= 0, "first tick", "be at least 0", c.FirstTick),
	)
}
