package flowtest

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Schema makes a schema of columns such as "delay int64" or "date string
// required".
func Schema(t testing.TB, columns ...string) *schema.Schema {
	t.Helper()
	cols := make([]schema.Column, len(columns))
	for i, text := range columns {
		cols[i] = column(t, text)
	}
	s, err := schema.New(cols)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func column(t testing.TB, text string) schema.Column {
	t.Helper()
	words := strings.Fields(text)
	required := len(words) == 3 && words[2] == "required"
	if len(words) != 2 && !required {
		t.Fatalf("column %q: want a name, a type, and perhaps the word required", text)
	}
	typ, err := schema.ParseType(words[1])
	if err != nil {
		t.Fatalf("column %q: %v", text, err)
	}
	return schema.Column{Name: words[0], Type: typ, Required: required}
}

// Row makes a row from Go values, one for each column.
func Row(t testing.TB, s *schema.Schema, values ...any) schema.Row {
	t.Helper()
	if len(values) != s.Len() {
		t.Fatalf("%d values for a schema of %d columns", len(values), s.Len())
	}
	row := make(schema.Row, len(values))
	for i, c := range s.Columns() {
		v, err := c.Convert(values[i])
		if err != nil {
			t.Fatal(err)
		}
		row[i] = v
	}
	return row
}

// Key makes a key from Go values, one for each column; columns with an
// expression are not computed.
func Key(t testing.TB, s *flow.KeySchema, values ...any) flow.Key {
	t.Helper()
	return flow.NewKey(s, string(schema.AppendKey(nil, Row(t, s, values...)...)))
}

// Message makes a message of a stream.
func Message(stream string, key flow.Key, event flow.Time, s *schema.Schema, row schema.Row) flow.Message {
	return flow.Message{
		Meta:    flow.Meta{StreamID: stream, SystemTimestamp: event, EventTimestamp: event},
		Key:     key,
		Payload: flow.NewPayload(s, row),
	}
}

// Timer makes a timer of a stream that has come due at its trigger.
func Timer(stream string, key flow.Key, trigger, event flow.Time) flow.Timer {
	return flow.Timer{
		Meta:             flow.Meta{StreamID: stream, SystemTimestamp: trigger, EventTimestamp: event},
		Key:              key,
		TriggerTimestamp: trigger,
	}
}
