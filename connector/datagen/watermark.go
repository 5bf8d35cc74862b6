package datagen

import (
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// timeOf is what a column of timestamps holds in the row of a number.
type timeOf func(number uint64) flow.Time

// timesOf are the columns of timestamps.
func (p *Parameters) timesOf(s *schema.Schema, fillers []filler) (times []timeOf) {
	for i, k := range p.kinds(s) {
		if k.Kind != kindTimestamp {
			continue
		}
		fill, unit := fillers[i], timeUnit(s.Columns()[i].Type)
		times = append(times, func(number uint64) flow.Time {
			v := fill(&row{number: number})
			if v.Kind() != schema.KindString {
				return flow.Time(v.AsInt64() * int64(unit))
			}
			t, err := time.Parse(time.RFC3339Nano, v.AsString())
			if err != nil {
				panic(err) // the filler wrote it
			}
			return flow.Time(t.UnixNano())
		})
	}
	return times
}

// watermark is what the next row begins with; it stays where it is when the times
// begin again.
func (r *reader) watermark() flow.Time {
	least := flow.NoTimestamp
	for i, at := range r.times {
		if t := at(r.first + r.done*r.step); i == 0 || t < least {
			least = t
		}
	}
	return least
}
