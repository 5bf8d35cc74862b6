package console

import (
	"net/http"

	"github.com/rondo-flow/rondo/store"
)

func (s *Server) tables(r *http.Request) (any, error) {
	all, err := s.opts.Pipeline.Tables().Tables(r.Context())
	if err != nil {
		return nil, err
	}
	out := &Tables{Tables: []StoredTable{}}
	for _, t := range all {
		out.Tables = append(out.Tables, StoredTable{uint64(t.ID), t.Name, t.Schema, t.Relation})
	}
	return out, nil
}

func (s *Server) tableCreate(r *http.Request) (any, error) {
	var q StoredTable
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	id, err := s.opts.Pipeline.Tables().CreateTable(r.Context(), q.Name, q.Schema)
	return &TableCreated{uint64(id)}, err
}

func (s *Server) tableRename(r *http.Request) (any, error) {
	var q StoredTable
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	return struct{}{}, s.opts.Pipeline.Tables().RenameTable(r.Context(), store.TableID(q.ID), q.Name)
}

func (s *Server) tableDrop(r *http.Request) (any, error) {
	var q StoredTable
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	return struct{}{}, s.opts.Pipeline.Tables().DropTable(r.Context(), store.TableID(q.ID))
}

func (s *Server) tableGet(r *http.Request) (any, error) {
	var q TableKeys
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	if len(q.Keys) > maxStateKeys {
		return nil, outOfRange("keys", "<= 1000", "at most %d keys in one request, got %d", maxStateKeys, len(q.Keys))
	}
	keys := make([]string, len(q.Keys))
	for i, k := range q.Keys {
		keys[i] = string(k)
	}
	values, err := s.opts.Pipeline.Tables().GetRows(r.Context(), store.TableID(q.Table), keys)
	return &TableValues{values}, err
}

// tableList lists at most a few megabytes, as stateList does.
func (s *Server) tableList(r *http.Request) (any, error) {
	var q TableList
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	if q.MaxRows < 0 || q.MaxBytes < 0 {
		return nil, outOfRange("max_rows", ">= 0", "max_rows and max_bytes cannot be negative, got %d and %d", q.MaxRows, q.MaxBytes)
	}
	if q.MaxBytes == 0 || q.MaxBytes > maxStateBytes {
		q.MaxBytes = maxStateBytes
	}
	a, err := s.opts.Pipeline.Tables().ListRows(r.Context(), store.TableID(q.Table), store.ListRequest{
		Lower: string(q.Lower), Upper: string(q.Upper), MaxRows: q.MaxRows, MaxBytes: q.MaxBytes,
	})
	if err != nil {
		return nil, err
	}
	return statesOf(a), nil
}

func (s *Server) tableWrite(r *http.Request) (any, error) {
	var q TableRows
	if err := decode(r, &q); err != nil {
		return nil, err
	}
	rows := make([]store.TableWrite, len(q.Rows))
	for i, row := range q.Rows {
		rows[i] = store.TableWrite{Table: store.TableID(row.Table), Key: string(row.Key), Value: row.Value, Checked: row.Checked, Was: row.Was}
	}
	return struct{}{}, s.opts.Pipeline.Tables().WriteRows(r.Context(), rows)
}
