package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"github.com/rondo-flow/rondo/yson"
)

// tablePlan is a table in the store that a computation uses under a name. at is
// where the spec says so.
type tablePlan struct{ name, path, at string }

// boundTable is a table as a job found it when it started. It is adopted if its rows
// are in a table of a user's own.
type boundTable struct {
	tablePlan
	id      store.TableID
	form    *schema.Table
	adopted bool
	doubts  []string // what may keep rows from being written, and need not
}

// jobTables are the tables of a job.
type jobTables struct {
	tables []boundTable // of external states
	looked []boundTable // where rows are looked up
	// tableGone: a list found that a table was dropped, or replaced by another one.
	tableGone atomic.Bool
}

// managers makes the external states of a computation. A table has one writer.
func (b *builder) managers(n *node, c *spec.Computation, path string) {
	for _, name := range slices.Sorted(maps.Keys(c.ExternalManagers)) {
		at := yson.Join(path, "external_state_managers", name)
		if n.key == nil || !b.sound(at) {
			continue
		}
		table, err := external.TableName(flow.NewParameters(c.ExternalManagers[name].Parameters, at+".parameters"))
		if err == nil {
			if first, taken := b.owners[table]; taken {
				err = fmt.Errorf("it writes the table %s, as does %s: a table has one writer, so give each its own, or read it through external_state_joiners", table, first)
			} else {
				b.owners[table] = at
			}
		}
		b.problem(at, err)
		n.managers = append(n.managers, tablePlan{name, table, at})
	}
}

// bind finds the tables in the store, those of external states and those where rows
// are looked up, and makes sure that their keys are what the computation has.
func (n *node) bind(ctx context.Context, s store.Tables) (managed, looked []boundTable, err error) {
	if len(n.managers)+len(n.lookups) == 0 {
		return nil, nil, nil
	}
	all, err := s.Tables(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("look for tables: %w", err)
	}
	for _, m := range n.managers {
		t, err := m.bind(all, func(form *schema.Table) error { return form.CheckKey(n.key) })
		if err == nil {
			err = t.usable(ctx, s, true)
		}
		if err != nil {
			return nil, nil, err
		}
		managed = append(managed, t)
	}
	for i := range n.lookups {
		t, err := n.lookups[i].bind(all, n.lookups[i].fits)
		if err == nil {
			err = t.usable(ctx, s, false)
		}
		if err != nil {
			return nil, nil, err
		}
		looked = append(looked, t)
	}
	return managed, looked, n.checkForms(managed)
}

// checkForms shows the tables of external states to a function that wants to see them.
func (n *node) checkForms(managed []boundTable) error {
	if n.checker == nil {
		return nil
	}
	forms := map[string]*schema.Table{}
	for _, t := range managed {
		forms[t.name] = t.form
	}
	return n.checker.CheckTables(forms)
}

// externals are the external states with the visit streams that scan them.
func (n *node) externals() map[string][]string {
	out := map[string][]string{}
	for i, m := range n.managers {
		out[m.name] = nil
		for _, v := range n.visitors {
			if slices.Contains(v.managed, i) {
				out[m.name] = append(out[m.name], v.stream)
			}
		}
	}
	return out
}

// bind finds the table, whose form has to fit.
func (p tablePlan) bind(all []store.Table, fits func(*schema.Table) error) (boundTable, error) {
	t, err := p.find(all)
	if err == nil {
		err = fits(t.form)
	}
	if err != nil {
		err = fmt.Errorf("%s: table %s: %w", p.at, p.path, err)
	}
	return t, err
}

func (p tablePlan) find(all []store.Table) (boundTable, error) {
	t, err := tableNamed(all, p.path)
	if err != nil {
		return boundTable{}, err
	}
	form, err := schema.ParseTable(t.Schema)
	if err != nil {
		err = fmt.Errorf("%w: its schema cannot be read: %w", store.ErrCorrupt, err)
	}
	return boundTable{tablePlan: p, id: t.ID, form: form, adopted: t.Relation != ""}, err
}

// usable makes sure that a user's own table is as it has to be by now.
func (t *boundTable) usable(ctx context.Context, s store.Tables, writes bool) error {
	a, ok := s.(store.Adopter)
	if !ok || !t.adopted {
		return nil
	}
	doubts, err := a.CheckTable(ctx, t.id, writes)
	if err != nil {
		return fmt.Errorf("%s: table %s: %w", t.at, t.path, err)
	}
	t.doubts = doubts
	return nil
}

// tableNamed returns the table that has a name.
func tableNamed(all []store.Table, name string) (store.Table, error) {
	i := slices.IndexFunc(all, func(t store.Table) bool { return t.Name == name })
	if i < 0 {
		return store.Table{}, fmt.Errorf("%w in the store: make it with rondo table create", store.ErrNoTable)
	}
	return all[i], nil
}

// checkTables finds the tables of all computations, and logs what is doubtful of them.
func (p *plan) checkTables(ctx context.Context, s store.Tables, log *slog.Logger) error {
	var problems []error
	for _, n := range p.nodes {
		managed, _, err := n.bind(ctx, s)
		problems = append(problems, err)
		for _, t := range managed {
			for _, d := range t.doubts {
				log.Warn("a table may not take new rows", "computation", n.id, "table", t.path, "reason", d)
			}
		}
	}
	return errors.Join(problems...)
}

// managed returns the places of the external states that a visit stream scans.
func (n *node) managed(names []string) (out []int) {
	for i := range n.managers {
		if slices.Contains(names, n.managers[i].name) {
			out = append(out, i)
		}
	}
	return out
}

// listManaged asks the tables of external states about a slice. What they hold is
// read again when the visit is delivered, since others may write them too (KV-22).
func (j *job) listManaged(ctx context.Context, l partition.List, answers []visit.Answer) ([]visit.Answer, error) {
	for _, i := range j.node.visitors[l.Visitor].managed {
		t := &j.tables[i]
		got, err := j.env.store.ListRows(ctx, t.id, store.ListRequest{
			Lower: boundKey(l.List.Range.Lower), Upper: boundKey(l.List.Range.Upper),
			MaxRows: l.List.MaxRows, MaxBytes: l.List.MaxBytes, MaxWork: listWork, KeysOnly: true,
		})
		if errors.Is(err, store.ErrNoTable) {
			j.tableGone.Store(true)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.path, err)
		}
		a, err := found(got)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.path, err)
		}
		for k := range a.Keys {
			a.Keys[k].Rows = nil
		}
		if len(a.Keys) > 0 {
			a.Names = []string{t.name}
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// fetchRows reads the rows of external states of all keys of the epoch.
func (p *functionProcessor) fetchRows(ctx context.Context) error {
	for i := range p.tables {
		t := &p.tables[i]
		found, err := p.rows.GetRows(ctx, t.id, p.keys)
		if err != nil {
			return fmt.Errorf("load %d rows of table %s: %w", len(p.keys), t.path, err)
		}
		for k, state := range p.table.order {
			state.rows = append(state.rows, found[k])
		}
	}
	return nil
}

// row returns the cell of an external state.
func (k *keyState) row(manager int) *flow.Cell {
	for i := range k.cells {
		if k.cells[i].manager == manager+1 {
			return k.cells[i].cell
		}
	}
	c := flow.NewCell(k.rows[manager])
	k.cells = append(k.cells, namedCell{manager: manager + 1, cell: c})
	return c
}

// hasRow tells whether one of the external states has a row by now.
func (k *keyState) hasRow(managers []int) (bool, error) {
	for _, m := range managers {
		b, err := k.row(m).Bytes()
		if err != nil || len(b) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// rowChanges appends what the epoch must write to tables: rows that are not as they
// were read, if they still are.
func (k *keyState) rowChanges(dst []store.TableWrite, tables []boundTable) ([]store.TableWrite, error) {
	for i := range k.cells {
		c := &k.cells[i]
		if c.manager == 0 {
			continue
		}
		t := &tables[c.manager-1]
		value, changed, err := c.cell.Changed()
		if err != nil {
			return dst, fmt.Errorf("external state %s: %w", t.name, err)
		}
		if was := k.rows[c.manager-1]; changed && !bytes.Equal(value, was) {
			dst = append(dst, store.TableWrite{Table: t.id, Key: k.key, Value: value, Checked: true, Was: was})
		}
	}
	return dst, nil
}

// External implements flow.Runtime.
func (r *callRuntime) External(name string, key flow.Key) (*flow.Cell, *schema.Table, error) {
	k, err := r.state(key)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(r.tables, func(t boundTable) bool { return t.name == name })
	if i < 0 {
		return nil, nil, r.fail(fmt.Errorf("computation %s has no external state %s: add it to external_state_managers", r.node.id, name))
	}
	return k.row(i), r.tables[i].form, nil
}
