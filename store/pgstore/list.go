package pgstore

import (
	"context"
	"math"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

const (
	// pageRows is how many rows of a list are asked for at once, at most.
	pageRows = 4096
	// pageBytes is how many bytes of values a page has, beside its last row.
	pageBytes = 4 << 20
)

// ListStates reads a range page by page, each a statement of its own: what is
// written to keys that are still to come is seen or not.
func (s *Store) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	l := lister{request: r, answer: &store.ListAnswer{}}
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		return l.pages(func(page *pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error) { return s.statesPage(ctx, db, page) })
	})
	if err != nil {
		return nil, err
	}
	return l.answer, nil
}

// statesPage reads a page; an empty upper bound is none.
func (s *Store) statesPage(ctx context.Context, db pgsql.DBTX, p *pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error) {
	if len(p.Upper) > 0 {
		return s.sql.StatesPage(ctx, db, p)
	}
	rows, err := s.sql.StatesPageOpen(ctx, db, &pgsql.StatesPageOpenParams{
		AllNames: p.AllNames, Names: p.Names, Computation: p.Computation, AfterKey: p.AfterKey, AfterName: p.AfterName,
		MaxRows: p.MaxRows, MaxBytes: p.MaxBytes,
	})
	out := make([]pgsql.StatesPageRow, len(rows))
	for i := range rows {
		out[i] = pgsql.StatesPageRow(rows[i])
	}
	return out, err
}

// lister collects an answer.
type lister struct {
	request store.ListRequest
	answer  *store.ListAnswer
	work    int
	first   string // the first key passed
}

// pages reads until the range ends or a limit is reached.
func (l *lister) pages(read func(*pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error)) error {
	page := l.firstPage()
	for {
		rows, err := read(page)
		if err != nil || l.take(rows) {
			return err
		}
		if len(rows) == 0 {
			l.answer.Complete = true
			return nil
		}
		last := &rows[len(rows)-1]
		page.AfterKey, page.AfterName = last.Key, last.Name
	}
}

// firstPage asks for what the limits allow, and a row more, which tells whether
// there is one.
func (l *lister) firstPage() *pgsql.StatesPageParams {
	r := &l.request
	page := &pgsql.StatesPageParams{
		Computation: []byte(r.Computation), AfterKey: []byte(r.Lower), AfterName: []byte{},
		AllNames: len(r.Names) == 0, Names: texts(r.Names, func(n *string) string { return *n }),
		Upper: []byte(r.Upper), MaxRows: pageRows, MaxBytes: pageBytes,
	}
	for _, limit := range []int{r.MaxRows, r.MaxWork} {
		if limit > 0 && limit < pageRows {
			page.MaxRows = min(page.MaxRows, int32(limit+1))
		}
	}
	if r.MaxBytes > 0 {
		page.MaxBytes = min(page.MaxBytes, int64(min(r.MaxBytes, math.MaxInt32)))
	}
	return page
}

// take adds rows, and tells whether the answer is cut.
func (l *lister) take(rows []pgsql.StatesPageRow) (cut bool) {
	for i := range rows {
		row := &rows[i]
		key := string(row.Key)
		if l.work == 0 {
			l.first = key
		}
		if l.request.MaxWork > 0 && l.work >= l.request.MaxWork && key != l.first {
			l.cutBefore(key)
			return true
		}
		l.work++
		if row.Value != nil && l.add(key, store.StateRow{Name: string(row.Name), Value: row.Value}) {
			return true
		}
	}
	return false
}

// add appends a row, and tells whether the answer is cut by it.
func (l *lister) add(key string, row store.StateRow) (cut bool) {
	a := l.answer
	if n := len(a.Keys); n == 0 || a.Keys[n-1].Key != key {
		a.Keys = append(a.Keys, store.ListedKey{Key: key, Bytes: len(key)})
		a.Bytes += len(key)
	}
	if l.request.KeysOnly {
		row.Value = nil // users' tables give them all the same
	}
	k := &a.Keys[len(a.Keys)-1]
	size := len(row.Name) + len(row.Value)
	k.Rows = append(k.Rows, row)
	k.Bytes += size
	a.Bytes += size
	a.Rows++
	switch {
	case l.request.MaxBytes > 0 && a.Bytes > l.request.MaxBytes && len(a.Keys) > 1:
		l.cutBefore(key)
		return true
	case a.Rows == l.request.MaxRows:
		a.CompleteTo = key
		return true
	}
	return false
}

// cutBefore ends the answer before a key, whose rows are taken out again.
func (l *lister) cutBefore(key string) {
	a := l.answer
	a.CompleteTo = key
	if n := len(a.Keys); n > 0 && a.Keys[n-1].Key == key {
		a.Rows -= len(a.Keys[n-1].Rows)
		a.Bytes -= a.Keys[n-1].Bytes
		a.Keys = a.Keys[:n-1]
	}
}
