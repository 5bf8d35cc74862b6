package engine

import (
	"math"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// orderOf returns the time of an inbox row by which the heads of producers are
// merged, nil without input_ordering.
func orderOf(o *spec.InputOrdering) func(*store.InboxRow) int64 {
	if o == nil {
		return nil
	}
	return func(row *store.InboxRow) int64 {
		system, delay := headOf(row.Payload, o.StreamDelays)
		if o.TimeType == spec.TimeSystem {
			return system + int64(delay)
		}
		return row.MinEvent + int64(delay)
	}
}

// headOf reads the system time of a payload, and the least delay of its streams. A
// payload that cannot be read is refused when it is decoded.
func headOf(payload []byte, delays map[string]time.Duration) (system int64, delay time.Duration) {
	r := wireReader{b: payload}
	r.byte()
	r.uvarint()
	system = r.varint()
	delay = math.MaxInt64
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		r.uvarint()
		delay = min(delay, delays[string(r.bytes())])
	}
	if r.bad {
		return system, 0
	}
	return system, delay
}
