package function

import (
	"fmt"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// target is an output stream with what fills each of its columns.
type target struct {
	stream string
	schema *schema.Schema
	fill   []filler
	row    schema.Row
}

// filler gives a column its value.
type filler func(visit *flow.Visit, key, aggregates schema.Row) schema.Value

// add emits a record; to no target, none.
func (t *target) add(visit flow.Visit, aggregates schema.Row, out flow.OutputCollector) error {
	if t == nil {
		return nil
	}
	key, err := visit.Key.Row()
	if err != nil {
		return err
	}
	for i, fill := range t.fill {
		t.row[i] = fill(&visit, key, aggregates)
	}
	if err := t.schema.Check(t.row); err != nil {
		return fmt.Errorf("rollup of key %s: the record for stream %s: %w", visit.Key, t.stream, err)
	}
	return out.AddMessage(flow.OutputMessage{StreamID: t.stream, EventTimestamp: flow.NoTimestamp, Payload: flow.NewPayload(t.schema, t.row)})
}
