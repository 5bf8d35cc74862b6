package spec

import (
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Watermark says where event times come from.
type Watermark struct {
	Assigner Assigner `yson:"event_timestamp_assigner"`

	Generator  *yson.Node `yson:"watermark_generator"` // sources only; nil if not given
	Alignment  *yson.Node `yson:"watermark_alignment"` // sources only; nil if not given
	Percentile *yson.Node `yson:"watermark_percentile"`
}

// Assigner sets the event timestamp of every output message from a column.
type Assigner struct {
	Column string `yson:"column"` // empty = the timestamp is left as it is
	Format string `yson:"format"` // seconds, milli_seconds, iso8601, or a Go time layout

	// LimitBySystemTimestamp keeps event times from lying in the future.
	LimitBySystemTimestamp bool `yson:"limit_by_system_timestamp"`
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
