package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// assigner overwrites the event timestamp of a row of an output stream
// (watermark_strategy.event_timestamp_assigner).
type assigner func(row schema.Row, system flow.Time) (flow.Time, error)

// newAssigner returns nil when no column is named.
func newAssigner(a spec.Assigner, s *schema.Schema) (assigner, error) {
	if a.Column == "" {
		return nil, nil
	}
	i, ok := s.Index(a.Column)
	if !ok {
		return nil, fmt.Errorf("the stream has no column %q", a.Column)
	}
	parse, err := timeParser(a.Format, s.Columns()[i])
	if err != nil {
		return nil, err
	}
	return func(row schema.Row, system flow.Time) (flow.Time, error) {
		t, err := parse(row[i])
		if err != nil {
			return 0, fmt.Errorf("event timestamp from column %s: %w", a.Column, err)
		}
		if a.LimitBySystemTimestamp {
			t = min(t, system)
		}
		return t, nil
	}, nil
}

// timeParser reads a type of time, or one of the named formats or a Go time
// layout from plain integers and strings. The default format says nothing about
// a type of time, any other contradicts it.
func timeParser(format string, c schema.Column) (func(schema.Value) (flow.Time, error), error) {
	if unit := c.Type.TimeUnit(); unit != 0 {
		if format != spec.FormatSeconds {
			return nil, fmt.Errorf("%s is %s, whose unit is known: leave the format out", c.Name, c.Type)
		}
		return integerTime(unit), nil
	}
	kind := c.Type.Kind()
	numeric := (kind == schema.KindInt64 || kind == schema.KindUint64) && c.Type != schema.TypeInterval
	switch {
	case format == spec.FormatSeconds && numeric:
		return integerTime(time.Second), nil
	case format == spec.FormatMilliseconds && numeric:
		return integerTime(time.Millisecond), nil
	case format == spec.FormatSeconds || format == spec.FormatMilliseconds:
		return nil, fmt.Errorf("format %s needs an integer column, %s is %s", format, c.Name, c.Type)
	case kind != schema.KindString:
		return nil, fmt.Errorf("format %s needs a string column, %s is %s", format, c.Name, c.Type)
	case format == spec.FormatISO8601:
		return textTime(time.RFC3339, "2006-01-02T15:04:05", "2006-01-02"), nil
	case strings.Contains(format, "2006"):
		return textTime(format), nil
	default:
		return nil, fmt.Errorf("unknown format %q: use seconds, milli_seconds, iso8601, or a Go time layout such as \"2006-01-02 15:04\"", format)
	}
}

func integerTime(unit time.Duration) func(schema.Value) (flow.Time, error) {
	limit := math.MaxInt64 / int64(unit)
	return func(v schema.Value) (flow.Time, error) {
		n := v.AsInt64()
		unsigned := v.Kind() == schema.KindUint64
		if v.IsNull() || n > limit || n < -limit || unsigned && n < 0 {
			return 0, fmt.Errorf("%s is not a time within the range of nanoseconds", v)
		}
		return flow.Time(n * int64(unit)), nil
	}
}

// textTime tries the layouts in turn. Times without a zone are UTC.
func textTime(layouts ...string) func(schema.Value) (flow.Time, error) {
	return func(v schema.Value) (flow.Time, error) {
		if v.IsNull() {
			return 0, fmt.Errorf("null is not a time")
		}
		for _, layout := range layouts {
			t, err := time.Parse(layout, v.AsString())
			switch {
			case err != nil:
			case t.Year() < 1678 || t.Year() > 2261:
				return 0, fmt.Errorf("%s is outside the range of nanoseconds", v)
			default:
				return flow.Time(t.UnixNano()), nil
			}
		}
		return 0, fmt.Errorf("%s is no time as %s", v, strings.Join(layouts, ", or "))
	}
}
