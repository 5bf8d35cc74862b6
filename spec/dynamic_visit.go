package spec

import (
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// DynamicVisitStream holds the parameters of a visit stream that may change
// while it runs (KV-50).
type DynamicVisitStream struct {
	Period          time.Duration `yson:"period" range:">0,<=36500d"`             // target length of one pass
	FinalPassPeriod time.Duration `yson:"final_pass_period" range:">=0,<=36500d"` // pace once the upstreams completed (KV-34); 0 = as fast as it may

	// MaxVisitsPerSecond limits the keys examined by the whole stream; unset is no
	// limit.
	MaxVisitsPerSecond *float64 `yson:"max_visits_per_second" range:">0"`

	// MaxScanRowsPerIteration is the most rows of one list call per source (KV-19).
	// It is at least 2, and above the number of names of the stream: a key that has
	// as many rows would stall the scan (KV-21).
	MaxScanRowsPerIteration yson.Size `yson:"max_scan_rows_per_iteration" range:">0"`

	BufferRowLimit  yson.Size `yson:"buffer_row_limit" range:">0"`  // visits ready from which on nothing more is read (KV-17)
	BufferByteLimit yson.Size `yson:"buffer_byte_limit" range:">0"` // the same in bytes of their prefetched state

	// BackgroundFillPeriod is the idle tick of the fill loop. If not given it is
	// 500 ms, or a fortieth of Period if that is less.
	BackgroundFillPeriod time.Duration `yson:"background_fill_period" range:">0,<=36500d"`

	Finite        bool `yson:"finite"`          // follow the upstreams to completion; false goes on for the pipeline's whole life (KV-35)
	FullFinalPass bool `yson:"full_final_pass"` // the final pass is a whole one, begun after the upstreams completed (KV-34)

	CatchupLagThreshold      time.Duration `yson:"catchup_lag_threshold" range:">=0,<=36500d"` // lag above which slices widen (KV-26)
	CatchupSpeedupMultiplier float64       `yson:"catchup_speedup_multiplier" range:">1"`      // by how much

	// VisitShare is the share of processing time that visits get while messages
	// or timers wait (KV-30).
	VisitShare float64 `yson:"visit_share" range:">0,<=1"`

	OnVisitError string `yson:"on_visit_error" enum:"fail skip"` // what becomes of a visit whose handler fails (KV-27)
	Enabled      bool   `yson:"enabled"`                         // false stops scanning and delivery
}

// SetDefaults implements [yson.Defaulter].
func (s *DynamicVisitStream) SetDefaults() {
	*s = DynamicVisitStream{
		Period:                   24 * time.Hour,
		MaxScanRowsPerIteration:  10_000,
		BufferRowLimit:           5_000,
		BufferByteLimit:          16 << 20,
		BackgroundFillPeriod:     maxFillPeriod,
		Finite:                   true,
		FullFinalPass:            true,
		CatchupLagThreshold:      time.Minute,
		CatchupSpeedupMultiplier: 1.2,
		VisitShare:               0.25,
		OnVisitError:             "fail",
		Enabled:                  true,
	}
}

const maxFillPeriod = 500 * time.Millisecond

// defaultFillPeriod is the idle tick for a period, if none is given.
func defaultFillPeriod(period time.Duration) time.Duration {
	return max(min(maxFillPeriod, period/40), 1)
}

// PassPeriod reads how long one pass is to take that somebody asks for; 0 is as fast
// as it may. It may be what FinalPassPeriod may be. The problems name it by path.
func PassPeriod(path, text string) (time.Duration, error) {
	var v DynamicVisitStream
	problems := yson.Decode(yson.Map(yson.Entry{Key: "final_pass_period", Value: yson.String(text)}), "", &v)
	for i := range problems {
		problems[i].Path = path
	}
	return v.FinalPassPeriod, problems.Err()
}
