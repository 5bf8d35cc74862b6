package storetest

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// CreateTable passes the call on.
func (f *Faults) CreateTable(ctx context.Context, name, schema string) (store.TableID, error) {
	return through(ctx, f, Call{Op: OpCreateTable}, func() (store.TableID, error) { return f.store.CreateTable(ctx, name, schema) })
}

// Tables passes the call on.
func (f *Faults) Tables(ctx context.Context) ([]store.Table, error) {
	return through(ctx, f, Call{Op: OpTables}, func() ([]store.Table, error) { return f.store.Tables(ctx) })
}

// RenameTable passes the call on.
func (f *Faults) RenameTable(ctx context.Context, id store.TableID, name string) error {
	return f.change(ctx, OpRenameTable, func() error { return f.store.RenameTable(ctx, id, name) })
}

// DropTable passes the call on.
func (f *Faults) DropTable(ctx context.Context, id store.TableID) error {
	return f.change(ctx, OpDropTable, func() error { return f.store.DropTable(ctx, id) })
}

// GetRows passes the call on.
func (f *Faults) GetRows(ctx context.Context, id store.TableID, keys []string) ([][]byte, error) {
	return through(ctx, f, Call{Op: OpGetRows}, func() ([][]byte, error) { return f.store.GetRows(ctx, id, keys) })
}

// ListRows passes the call on.
func (f *Faults) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (*store.ListAnswer, error) {
	return through(ctx, f, Call{Op: OpListRows, List: &r}, func() (*store.ListAnswer, error) { return f.store.ListRows(ctx, id, r) })
}

// WriteRows passes the call on.
func (f *Faults) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	return f.change(ctx, OpWriteRows, func() error { return f.store.WriteRows(ctx, rows) })
}
