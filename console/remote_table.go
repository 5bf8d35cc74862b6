package console

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// remoteTables are the tables in the store of a running pipeline.
type remoteTables struct{ client *Client }

// Tables returns the tables in the pipeline's store, as a store has them. Limits of
// the API hold: a list ends earlier than asked for, and says where; a request has at
// most 32 MiB of rows to be written, in base64, and a thousand keys.
func (c *Client) Tables() store.Tables { return remoteTables{c} }

// Tables asks for all tables.
func (r remoteTables) Tables(ctx context.Context) (out []store.Table, err error) {
	a, err := get[Tables](ctx, r.client, "tables")
	if err != nil {
		return nil, err
	}
	for _, t := range a.Tables {
		out = append(out, store.Table{Name: t.Name, ID: store.TableID(t.ID), Schema: t.Schema, Relation: t.Relation})
	}
	return out, nil
}

// CreateTable asks for a table.
func (r remoteTables) CreateTable(ctx context.Context, name, schema string) (store.TableID, error) {
	a, err := post[TableCreated](ctx, r.client, "tables/create", StoredTable{Name: name, Schema: schema})
	if err != nil {
		return 0, err
	}
	return store.TableID(a.ID), nil
}

// RenameTable asks for another name.
func (r remoteTables) RenameTable(ctx context.Context, id store.TableID, name string) error {
	_, err := post[struct{}](ctx, r.client, "tables/rename", StoredTable{ID: uint64(id), Name: name})
	return err
}

// DropTable asks for the end of a table.
func (r remoteTables) DropTable(ctx context.Context, id store.TableID) error {
	_, err := post[struct{}](ctx, r.client, "tables/drop", StoredTable{ID: uint64(id)})
	return err
}

// GetRows asks for rows.
func (r remoteTables) GetRows(ctx context.Context, id store.TableID, keys []string) ([][]byte, error) {
	q := TableKeys{Table: uint64(id)}
	for _, k := range keys {
		q.Keys = append(q.Keys, []byte(k))
	}
	a, err := query[TableValues](ctx, r.client, "tables/rows/get", q)
	if err != nil {
		return nil, err
	}
	return a.Values, nil
}

// ListRows asks for a range of rows, with their values. MaxWork does not matter here.
func (r remoteTables) ListRows(ctx context.Context, id store.TableID, l store.ListRequest) (*store.ListAnswer, error) {
	a, err := query[States](ctx, r.client, "tables/rows/list", TableList{
		Table: uint64(id), Lower: []byte(l.Lower), Upper: []byte(l.Upper), MaxRows: l.MaxRows, MaxBytes: l.MaxBytes,
	})
	if err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// WriteRows asks for rows to be written.
func (r remoteTables) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	var q TableRows
	for _, w := range rows {
		q.Rows = append(q.Rows, TableRow{uint64(w.Table), []byte(w.Key), w.Value, w.Checked, w.Was})
	}
	_, err := post[struct{}](ctx, r.client, "tables/rows/write", q)
	return err
}
