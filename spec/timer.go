package spec

import "time"

// TimerStream is a timer stream of a computation. Timers fire when their
// trigger is at most the watermark: the minimum over Delays (each watermark
// minus its delay), else over Streams, else over the stream's parents.
type TimerStream struct {
	ID          string
	TimeType    string                   `yson:"time_type" enum:"event_time system_time real_time current_time"`
	Streams     []string                 `yson:"streams,set"`
	Delays      map[string]time.Duration `yson:"streams_with_delays"`
	Deduplicate bool                     `yson:"deduplicate_equal_timestamps"`
}

// SetDefaults implements [yson.Defaulter].
func (s *TimerStream) SetDefaults() { s.TimeType, s.Deduplicate = "event_time", true }
