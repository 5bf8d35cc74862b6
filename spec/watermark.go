package spec

import (
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Watermark says where event times come from.
type Watermark struct {
	Assigner Assigner `yson:"event_timestamp_assigner"` // of the messages of all outputs

	Generator  *yson.Node `yson:"watermark_generator"`  // how far event times may be out of order; sources only
	Alignment  *yson.Node `yson:"watermark_alignment"`  // how far sources may run ahead of each other; sources only
	Percentile *yson.Node `yson:"watermark_percentile"` // which share of the messages the watermark waits for
}

// Assigner sets the event timestamp of every output message from a column.
type Assigner struct {
	Column string `yson:"column"` // the column; unset leaves the timestamp as it is
	Format string `yson:"format"` // how integers and strings are read: seconds, milli_seconds, iso8601, or a Go time layout that shows the year as 2006; date, datetime and timestamp columns say themselves what they count

	LimitBySystemTimestamp bool `yson:"limit_by_system_timestamp"` // an event is never later than its message
}

// The formats of an assigner that are not Go layouts.
const (
	FormatSeconds      = "seconds"
	FormatMilliseconds = "milli_seconds"
	FormatISO8601      = "iso8601"
)

// SetDefaults implements [yson.Defaulter].
func (a *Assigner) SetDefaults() { a.Format = FormatSeconds }

// IsLayout reports whether the format is a Go time layout: one that shows the
// year 2006.
func (a *Assigner) IsLayout() bool { return strings.Contains(a.Format, "2006") }
