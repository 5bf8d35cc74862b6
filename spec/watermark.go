package spec

import (
	"strings"
	"time"
)

// Watermark says where event times come from.
type Watermark struct {
	Assigner Assigner `yson:"event_timestamp_assigner"` // of the messages of all outputs

	Generator *Generator `yson:"watermark_generator"` // how far event times may be out of order; sources only
	Alignment *Alignment `yson:"watermark_alignment"` // how far sources may run ahead of each other; sources only

	_ struct{} `yson:"watermark_percentile,ignored"`
}

// Generator makes the watermarks of a source: that of a partition is the latest event
// time it has read, less the bound. Without a generator there is no bound, and no
// partition is idle.
type Generator struct {
	UseSourceWatermark  bool          `yson:"use_source_watermark"`   // the watermark is what the source says, which must be one that has watermarks of its own; the bound is without meaning then
	OutOfOrdernessBound time.Duration `yson:"out_of_orderness_bound"` // how much earlier than the latest event time a row may be and not be late

	// IdlePartitions says when partitions that bring nothing cease to hold watermarks
	// back; unset, never.
	IdlePartitions *IdlePartitions `yson:"idle_partitions"`

	_ struct{} `yson:"unavailable_partition_groups|late_data_partitions,ignored"`
}

// SetDefaults implements [yson.Defaulter].
func (g *Generator) SetDefaults() { g.OutOfOrdernessBound = time.Minute }

// IdlePartitions lets readers pass over partitions of a source that bring nothing
// new, that never started, or whose job fails again and again. Their watermark
// follows the clock, less the bound, until they bring something; what is then
// earlier is late (D-17).
type IdlePartitions struct {
	Duration time.Duration `yson:"duration" range:">0"` // how long a partition brings nothing until it is idle

	// MaxRatio is the largest share of the partitions that are passed over. If more
	// are idle, but not all, something is broken: none is passed over, and the status
	// says so. If all are, the source is quiet.
	MaxRatio float64 `yson:"max_ratio" range:">=0,<=1"`
}

// SetDefaults implements [yson.Defaulter].
func (i *IdlePartitions) SetDefaults() { i.Duration, i.MaxRatio = time.Minute, 0.4 }

// Alignment makes source partitions that are ahead in event time wait for the others
// of their group.
type Alignment struct {
	GroupName  string        `yson:"group_name"`  // partitions of all sources with this name are one group
	DriftBound time.Duration `yson:"drift_bound"` // how far a partition's watermark may be ahead of the least of the group

	// ReadDelays are streams that the source stays behind: a batch that it has read is
	// taken only when the watermark of each, less the delay, has reached the latest
	// event time of the batch, or the stream is completed. They are outputs of other
	// computations, or computation/stream for a stream of one alone.
	ReadDelays map[string]time.Duration `yson:"read_delays"`
}

// SetDefaults implements [yson.Defaulter].
func (a *Alignment) SetDefaults() {
	a.GroupName, a.DriftBound = "default-alignment-group", 20*time.Minute
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
