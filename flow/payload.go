package flow

import (
	"fmt"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Payload is a row with its schema. To read a column that the schema does not
// have, or as another kind than it has, is a mistake in the function: the getters
// Int64, Uint64, Float64, Bool and String panic then and say what is wrong, which
// fails the call. [Payload.Has] and [Payload.Value] ask first.
type Payload struct {
	schema *schema.Schema
	row    schema.Row
}

// NewPayload pairs a row with its schema; the row must have the schema's
// length.
func NewPayload(s *schema.Schema, row schema.Row) Payload { return Payload{s, row} }

// Schema returns the schema.
func (p Payload) Schema() *schema.Schema { return p.schema }

// Row returns the values in the schema's order. It must not be changed, and is
// valid during the call only.
func (p Payload) Row() schema.Row { return p.row }

// Value returns the value of a column; null when there is no such column.
func (p Payload) Value(column string) schema.Value {
	i, ok := p.schema.Index(column)
	if !ok {
		return schema.Null()
	}
	return p.row[i]
}

// Has tells whether the column exists and is not null.
func (p Payload) Has(column string) bool { return !p.Value(column).IsNull() }

// Int64 returns a column of signed integers; 0 when it is null.
func (p Payload) Int64(column string) int64 { return p.of(schema.KindInt64, column).AsInt64() }

// Uint64 returns a column of unsigned integers, dates, datetimes or timestamps; 0
// when it is null.
func (p Payload) Uint64(column string) uint64 { return p.of(schema.KindUint64, column).AsUint64() }

// Float64 returns a float or double column; 0 when it is null.
func (p Payload) Float64(column string) float64 { return p.of(schema.KindDouble, column).AsDouble() }

// Bool returns a boolean column; false when it is null.
func (p Payload) Bool(column string) bool { return p.of(schema.KindBoolean, column).AsBoolean() }

// String returns a string or utf8 column; "" when it is null.
func (p Payload) String(column string) string { return p.of(schema.KindString, column).AsString() }

// of returns the value of a column, which has to hold the wanted kind: the
// accessors of schema.Value take the bits of any.
func (p Payload) of(kind schema.Kind, column string) schema.Value {
	i, ok := p.schema.Index(column)
	if !ok {
		panic(fmt.Sprintf("the message has no column %q: %s", column, yson.DidYouMean(column, p.schema.Names())))
	}
	v := p.row[i]
	if is := p.schema.Columns()[i].Type; is.Kind() != kind || v.Kind() != kind && !v.IsNull() {
		panic(fmt.Sprintf("column %s is %s and is read as %s: take the getter of its type, or Value", column, is, kind))
	}
	return v
}

// OutputMessage is a message on its way out: finished by MessageBuilder.Finish
// and given to OutputCollector.AddMessage.
type OutputMessage struct {
	// StreamID is the output stream.
	StreamID string
	// EventTimestamp is NoTimestamp for the default: the smallest event
	// timestamp of the call's inputs.
	EventTimestamp Time
	Payload        Payload
}

// NoTimestamp leaves the choice of a timestamp to the engine.
const NoTimestamp = Time(-1 << 63)

// MessageBuilder fills the columns of a message by name. Errors are kept and
// returned by Finish, so that calls can be chained.
type MessageBuilder struct {
	stream string
	schema *schema.Schema
	row    schema.Row
	event  Time
	err    error
}

// NewMessageBuilder starts a message; all columns are null.
func NewMessageBuilder(stream string, s *schema.Schema) *MessageBuilder {
	return &MessageBuilder{stream: stream, schema: s, row: make(schema.Row, s.Len()), event: NoTimestamp}
}

// FailedMessageBuilder returns a builder for a stream that cannot be written:
// Finish returns err.
func FailedMessageBuilder(err error) *MessageBuilder { return &MessageBuilder{err: err} }

// Set sets a column from a Go value: an integer, float, bool, string, []byte,
// time.Time, [Time] or nil.
func (b *MessageBuilder) Set(column string, v any) *MessageBuilder {
	if b.schema == nil {
		return b
	}
	i, ok := b.schema.Index(column)
	if !ok {
		b.fail(fmt.Errorf("stream %s has no column %q", b.stream, column))
		return b
	}
	value, err := b.schema.Columns()[i].Type.Convert(v)
	if err != nil {
		b.fail(fmt.Errorf("stream %s, column %s: %w", b.stream, column, err))
	}
	b.row[i] = value
	return b
}

// SetValue sets a column to a value that already has the column's kind.
func (b *MessageBuilder) SetValue(column string, v schema.Value) *MessageBuilder {
	if b.schema == nil {
		return b
	}
	i, ok := b.schema.Index(column)
	if !ok {
		b.fail(fmt.Errorf("stream %s has no column %q", b.stream, column))
		return b
	}
	b.row[i] = v
	return b
}

// SetEventTimestamp overrides the default event timestamp.
func (b *MessageBuilder) SetEventTimestamp(t Time) *MessageBuilder {
	b.event = t
	return b
}

// Finish checks the row against the schema and returns the message.
func (b *MessageBuilder) Finish() (OutputMessage, error) {
	if b.err == nil {
		if err := b.schema.Check(b.row); err != nil {
			b.fail(fmt.Errorf("stream %s: %w", b.stream, err))
		}
	}
	return OutputMessage{b.stream, b.event, Payload{b.schema, b.row}}, b.err
}

func (b *MessageBuilder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}
