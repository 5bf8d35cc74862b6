package flow

import (
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/schema"
)

// Time is an instant in unix nanoseconds. Timestamps are kept in this form
// wherever they are stored and compared; Std converts for calendars.
type Time int64

// Std returns t as a UTC time.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

// Sub returns t-u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Add returns t+d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// String prints t in RFC 3339 with nanoseconds.
func (t Time) String() string { return t.Std().Format(time.RFC3339Nano) }

// MessageID identifies a message, timer or visit. Ids of one producer sort in the
// order produced, and no id is ever used twice (D-22).
type MessageID struct {
	Generation, Epoch uint64
	Stream            uint16
	Index             uint32
}

// String prints the id so that text order is id order.
func (id MessageID) String() string {
	return fmt.Sprintf("%016x-%016x-%04x-%08x", id.Generation, id.Epoch, id.Stream, id.Index)
}

// Meta is what all inputs have.
type Meta struct {
	ID                              MessageID
	StreamID                        string
	SystemTimestamp, EventTimestamp Time
}

// Message is one row of a stream. Key is empty in computations without
// group_by_schema.
type Message struct {
	Meta
	Key     Key
	Payload Payload
}

// Timer is a timer that has come due (see OutputCollector.AddTimer). It fires once.
type Timer struct {
	Meta
	Key Key
	// TriggerTimestamp is what it was set to. The watermark of its stream has
	// reached it, and may be far beyond.
	TriggerTimestamp Time
}

// Visit is one visit of a key by a visit stream: the key is visited once in
// each pass. Final tells that the pass is the last one: everything written
// before it began is seen by it, and no message comes after it (KV-34).
type Visit struct {
	Meta
	Key   Key
	Pass  uint64
	Final bool
}

// Keyed is an input with a key: a Message, a Timer or a Visit.
type Keyed interface{ keyed() }

func (Message) keyed() {}
func (Timer) keyed()   {}
func (Visit) keyed()   {}

// KeyOf returns the key of an input. (A switch over the types, for a method
// called through the interface would move each input to the heap.)
func KeyOf(k Keyed) Key {
	switch in := k.(type) {
	case Message:
		return in.Key
	case Timer:
		return in.Key
	case Visit:
		return in.Key
	default:
		return Key{} // nil: the interface has no other types
	}
}

// KeySchema is the group_by_schema of a computation.
type KeySchema = schema.Schema

// Streams holds schemas by stream id.
type Streams map[string]*schema.Schema

// Key is a key in its encoded form; columns are decoded when asked for.
type Key struct {
	schema  *KeySchema
	encoded string
}

// NewKey returns the key with the given encoding (schema.AppendKey).
func NewKey(s *KeySchema, encoded string) Key { return Key{s, encoded} }

// Encoded returns the order-preserving encoding, which identifies the key.
func (k Key) Encoded() string { return k.encoded }

// Row decodes the key's columns.
func (k Key) Row() (schema.Row, error) { return schema.DecodeKey(k.encoded) }

// Schema returns the key's schema.
func (k Key) Schema() *KeySchema { return k.schema }

// String prints the key's values for people, "[5535… DFW ORD]".
func (k Key) String() string {
	row, err := k.Row()
	if err != nil {
		return fmt.Sprintf("%q", k.encoded)
	}
	return fmt.Sprint([]schema.Value(row))
}
