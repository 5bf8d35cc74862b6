package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// ErrTableInUse says that a table cannot be dropped since the pipeline uses it.
var ErrTableInUse = errors.New("the table is in use")

// Tables are the tables in the store of a running pipeline, nil before Run. Those
// that the pipeline uses cannot be dropped; rows may be written to them, and an epoch
// that went by what they were runs again.
func (p *Pipeline) Tables() store.Tables {
	if env := p.environment(); env != nil {
		return usedTables{env.store, p.plan}
	}
	return nil
}

// usedTables are tables some of which a pipeline uses.
type usedTables struct {
	store.Store
	plan *plan
}

// DropTable refuses a table that is used.
func (t usedTables) DropTable(ctx context.Context, id store.TableID) error {
	all, err := t.Store.Tables(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(table store.Table) bool { return table.ID == id })
	if i >= 0 {
		if user := t.plan.userOf(all[i].Name); user != "" {
			return fmt.Errorf("%w: %s is used by %s: stop the pipeline first", ErrTableInUse, all[i].Name, user)
		}
	}
	return t.Store.DropTable(ctx, id)
}

// userOf returns where the spec names a table, "" if it does not.
func (p *plan) userOf(table string) string {
	for _, n := range p.nodes {
		for _, m := range n.managers {
			if m.path == table {
				return m.at
			}
		}
		for i := range n.lookups {
			if n.lookups[i].path == table {
				return n.lookups[i].at
			}
		}
		for _, j := range n.joiners {
			if j.table.InStore() && j.table.Path() == table {
				return j.at
			}
		}
	}
	return ""
}
