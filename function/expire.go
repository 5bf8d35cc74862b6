package function

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// expireParameters are the processing_function_parameters of expire.
type expireParameters struct {
	Table  string        `yson:"table,required"`   // name of the external state whose rows expire
	Column string        `yson:"column,required"`  // what their age is counted from: of a type of time, or an integer of seconds since 1970
	MaxAge time.Duration `yson:"max_age,required"` // a row that is strictly older is removed
	AsOf   *string       `yson:"as_of"`            // the time to count ages at, in RFC 3339; the visit's own if not given
	Emit   *string       `yson:"emit"`             // output stream for rows that are removed
}

// expire removes rows of an external table by the age of a column.
type expire struct {
	table, column string
	maxAge        time.Duration
	asOf          *time.Time
	emit          string
	out           *schema.Schema
	parameters    flow.Parameters
}

// NewExpire is the factory of expire. It reports every problem of the parameters,
// with its path.
func NewExpire(setup flow.Setup) (flow.Function, error) {
	var p expireParameters
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	var problems yson.Problems
	problem := func(name, format string, args ...any) {
		problems.Add(setup.Parameters.Node().Get(name), yson.Join(setup.Parameters.Path(), name), format, args...)
	}
	e := &expire{table: p.Table, column: p.Column, maxAge: p.MaxAge, parameters: setup.Parameters}
	if setup.Key == nil || len(setup.Visits) == 0 {
		problem("table", "expire of computation %s needs a group_by_schema and a visit stream that scans %s", setup.Computation, p.Table)
	} else if scanners, known := setup.Externals[p.Table]; !known {
		problem("table", "computation %s has no external state %s: add it to external_state_managers, or name another: %s",
			setup.Computation, p.Table, yson.DidYouMean(p.Table, slices.Sorted(maps.Keys(setup.Externals))))
	} else if len(scanners) == 0 {
		problem("table", "no visit stream of computation %s scans %s, so that nothing would expire: add external_names = [\"%s\"] to one of key_visitor_streams",
			setup.Computation, p.Table, p.Table)
	}
	if p.MaxAge <= 0 {
		problem("max_age", "an age must be more than 0")
	}
	if p.AsOf != nil {
		at, err := time.Parse(time.RFC3339, *p.AsOf)
		if err != nil {
			problem("as_of", "%q is no time such as 2001-02-03T04:05:06Z", *p.AsOf)
		}
		e.asOf = &at
	}
	if p.Emit != nil {
		e.emit = *p.Emit
		e.out = visitOutput(&setup, e.emit, func(format string, args ...any) { problem("emit", format, args...) })
	}
	return e, problems.Err()
}

// OnVisit removes the row if it is too old. A row that does not say how old it is
// stays, as does one from the future.
func (e *expire) OnVisit(_ context.Context, rt flow.Runtime, visit flow.Visit, out flow.OutputCollector) error {
	stored := flow.OpenExternal(rt, e.table, visit)
	row, present, err := stored.Get()
	if err != nil || !present {
		return err
	}
	since, dated, err := e.since(row)
	if err != nil {
		return err
	}
	now := time.Unix(0, int64(visit.SystemTimestamp))
	if e.asOf != nil {
		now = *e.asOf
	}
	switch {
	case !dated:
		rt.Count("undated", 1)
		return nil
	case now.Sub(since) <= e.maxAge:
		rt.Count("kept", 1)
		return nil
	}
	rt.Count("expired", 1)
	if err := e.tell(rt, visit, row, out); err != nil {
		return err
	}
	return stored.Clear()
}

// CheckTables makes sure that the table has the column, and that it is a time.
func (e *expire) CheckTables(tables map[string]*schema.Table) error {
	t := tables[e.table]
	if t == nil {
		return nil // refused already
	}
	var problems yson.Problems
	problem := func(format string, args ...any) {
		problems.Add(e.parameters.Node().Get("column"), yson.Join(e.parameters.Path(), "column"), format, args...)
	}
	columns := t.Columns().Columns()
	i, ok := t.Columns().Index(e.column)
	if !ok {
		problem("the table of %s has no column %s: %s", e.table, e.column, yson.DidYouMean(e.column, t.Columns().Names()))
	} else if k := columns[i].Type.Kind(); k != schema.KindUint64 && k != schema.KindInt64 {
		problem("column %s of the table of %s is %s, which is no time: use timestamp, datetime, date, or an integer of seconds", e.column, e.table, columns[i].Type)
	}
	return problems.Err()
}

// since is what the age of a row is counted from.
func (e *expire) since(row flow.Payload) (at time.Time, dated bool, err error) {
	i, ok := row.Schema().Index(e.column)
	if !ok {
		return at, false, fmt.Errorf("expire: the table of %s has no column %s: correct the column", e.table, e.column)
	}
	c, v := row.Schema().Columns()[i], row.Row()[i]
	if v.IsNull() {
		return at, false, nil
	}
	unit := c.Type.TimeUnit()
	if unit == 0 {
		unit = time.Second
	}
	switch c.Type.Kind() {
	case schema.KindUint64:
		return timeOf(int64(min(v.AsUint64(), math.MaxInt64)), unit), true, nil
	case schema.KindInt64:
		return timeOf(v.AsInt64(), unit), true, nil
	}
	return at, false, fmt.Errorf("expire: column %s of the table of %s is %s, which is no time: use timestamp, datetime, date, or an integer of seconds", e.column, e.table, c.Type)
}

// far is a number of seconds or days beyond every age, and of those that can be told
// apart.
const far = 1 << 40

// timeOf is a number of units since 1970, however large.
func timeOf(n int64, unit time.Duration) time.Time {
	if unit < time.Second {
		return time.UnixMicro(n)
	}
	return time.Unix(max(-far, min(far, n))*int64(unit/time.Second), 0)
}

// tell emits a row that is removed: pass, and its columns, as far as the stream has
// columns of these names.
func (e *expire) tell(rt flow.Runtime, visit flow.Visit, row flow.Payload, out flow.OutputCollector) error {
	if e.emit == "" {
		return nil
	}
	b := rt.MessageBuilder(e.emit)
	for _, c := range e.out.Columns() {
		if _, ok := row.Schema().Index(c.Name); ok {
			b.SetValue(c.Name, row.Value(c.Name))
		} else if c.Name == "pass" {
			b.SetValue(c.Name, schema.Uint64(visit.Pass))
		}
	}
	m, err := b.Finish()
	if err != nil {
		return fmt.Errorf("expire of key %s: %w", visit.Key, err)
	}
	return out.AddMessage(m)
}

var (
	_ flow.RowVisitFunction = (*expire)(nil)
	_ flow.TableChecker     = (*expire)(nil)
)
