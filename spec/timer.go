package spec

import "time"

// TimerStream is a timer stream of a computation. Timers fire when their
// trigger is at most the watermark: the minimum over Delays (each watermark
// minus its delay), else over Streams, else over the stream's parents.
type TimerStream struct {
	ID       string
	TimeType string `yson:"time_type" enum:"event_time system_time real_time current_time"` // the clock; current_time is real_time

	Streams     []string                 `yson:"streams,set"`                  // whose watermarks count
	Delays      map[string]time.Duration `yson:"streams_with_delays"`          // whose watermarks count, minus a delay each
	Deduplicate bool                     `yson:"deduplicate_equal_timestamps"` // one timer for each key and trigger
}

// SetDefaults implements [yson.Defaulter].
func (s *TimerStream) SetDefaults() { s.TimeType, s.Deduplicate = "event_time", true }
