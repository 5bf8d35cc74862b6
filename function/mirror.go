package function

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// mirrorParameters are the processing_function_parameters of mirror.
type mirrorParameters struct {
	Source  string    `yson:"source,required"` // name of the joined table
	State   string    `yson:"state"`           // name of the state that follows it
	Columns *[]string `yson:"columns,set"`     // of the table; all but the key's if not given
	Emit    *string   `yson:"emit"`            // output stream for what was changed
}

// mirror makes a state follow a static table.
type mirror struct {
	source  string
	state   string
	columns []string // nil: all but the key's
	key     *flow.KeySchema
	emit    string
	out     *schema.Schema
}

// NewMirror is the factory of mirror. It reports every problem of the parameters,
// with its path.
func NewMirror(setup flow.Setup) (flow.Function, error) {
	p := mirrorParameters{State: "/mirror"}
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	var problems yson.Problems
	problem := func(name, format string, args ...any) {
		problems.Add(setup.Parameters.Node().Get(name), yson.Join(setup.Parameters.Path(), name), format, args...)
	}
	if setup.Key == nil || len(setup.Visits) == 0 {
		problem("source", "mirror of computation %s needs a group_by_schema and a visit stream that scans %s", setup.Computation, p.Source)
	}
	if !strings.HasPrefix(p.State, "/") {
		problem("state", "%q is no name of a state: it begins with \"/\"", p.State)
	}
	m := &mirror{source: p.Source, state: p.State, key: setup.Key}
	if p.Columns != nil {
		m.columns = *p.Columns
	}
	if p.Emit != nil {
		m.emit = *p.Emit
		m.out = visitOutput(&setup, m.emit, func(format string, args ...any) { problem("emit", format, args...) })
	}
	return m, problems.Err()
}

// OnVisit makes the state of the key what the table has.
func (m *mirror) OnVisit(_ context.Context, rt flow.Runtime, visit flow.Visit, out flow.OutputCollector) error {
	joined, err := flow.OpenJoined(rt, m.source, visit)
	if err != nil {
		return err
	}
	if !joined.Known() {
		rt.Count("unknown", 1)
		return nil
	}
	row, present, err := joined.Row()
	if err != nil {
		return err
	}
	cell, err := rt.Cell(m.state, visit.Key)
	if err != nil {
		return err
	}
	before, err := cell.Bytes()
	if err != nil {
		return err
	}
	var now []byte
	if present {
		if now, err = m.encode(row); err != nil {
			return err
		}
	}
	change := changed(before, now)
	if change == "" {
		return nil
	}
	cell.SetBytes(now)
	rt.Count(change, 1)
	return m.tell(rt, visit, change, row, out)
}

// changed says what becomes of a state, "" if nothing.
func changed(before, now []byte) string {
	switch {
	case string(before) == string(now):
		return ""
	case len(before) == 0:
		return "created"
	case len(now) == 0:
		return "deleted"
	default:
		return "updated"
	}
}

// encode returns the state: a CBOR map by the names of columns.
func (m *mirror) encode(row flow.Payload) ([]byte, error) {
	columns := m.columns
	if columns == nil {
		for _, c := range row.Schema().Columns() {
			if _, isKey := m.key.Index(c.Name); !isKey {
				columns = append(columns, c.Name)
			}
		}
	}
	b := appendHead(nil, majorMap, uint64(len(columns)))
	for _, name := range columns {
		i, ok := row.Schema().Index(name)
		if !ok {
			return nil, fmt.Errorf("mirror: the table %s has no column %s: correct the columns", m.source, name)
		}
		b = appendItem(appendText(b, name), row.Row()[i])
	}
	return b, nil
}

// tell emits what was done: change, pass, the key, and the row's columns, as far as
// the stream has columns of these names.
func (m *mirror) tell(rt flow.Runtime, visit flow.Visit, change string, row flow.Payload, out flow.OutputCollector) error {
	if m.emit == "" {
		return nil
	}
	key, err := visit.Key.Row()
	if err != nil {
		return err
	}
	b := rt.MessageBuilder(m.emit)
	for _, c := range m.out.Columns() {
		switch i, isKey := m.key.Index(c.Name); {
		case isKey:
			b.SetValue(c.Name, key[i])
		case c.Name == "change":
			b.Set(c.Name, change)
		case c.Name == "pass":
			b.SetValue(c.Name, schema.Uint64(visit.Pass))
		case row.Schema() != nil:
			b.SetValue(c.Name, row.Value(c.Name))
		}
	}
	msg, err := b.Finish()
	if err != nil {
		return errors.Join(fmt.Errorf("mirror of key %s", visit.Key), err)
	}
	return out.AddMessage(msg)
}

var _ flow.RowVisitFunction = (*mirror)(nil)
