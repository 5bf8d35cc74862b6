package spec

import "time"

// The values of time_type.
const (
	TimeEvent   = "event_time"
	TimeSystem  = "system_time"
	TimeReal    = "real_time"
	TimeCurrent = "current_time"
)

// TimerStream is a timer stream of a computation. Timers fire when their
// trigger is at most the watermark: the minimum over Delays (each watermark
// minus its delay), else over Streams, else over the stream's parents. Event time
// goes by event watermarks. System time goes by system watermarks: the clock, held back
// while a message that was sent earlier is on its way or waits, and over once those
// streams are completed. Real time goes by the clock alone, so that a computation is
// completed only when the last of its timers has fired. Timers lie in the store, and
// their number is not limited.
type TimerStream struct {
	ID       string
	TimeType string `yson:"time_type" enum:"event_time system_time real_time current_time"` // the clock; current_time is real_time

	Streams     []string                 `yson:"streams,set"`                  // whose watermarks count
	Delays      map[string]time.Duration `yson:"streams_with_delays"`          // whose watermarks count, minus a delay each
	Deduplicate bool                     `yson:"deduplicate_equal_timestamps"` // one timer for each key and trigger
}

// SetDefaults implements [yson.Defaulter].
func (s *TimerStream) SetDefaults() { s.TimeType, s.Deduplicate = TimeEvent, true }
