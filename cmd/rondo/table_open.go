package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

const tableHelp = `

Tables lie in the store of a pipeline's data folder, or in PostgreSQL (--store); they are found by the spec file or by --data. The pipeline may be running: then this goes through its control socket.`

// tableFlags name a table in a store.
type tableFlags struct {
	placeFlags
	Table *string `arg:"" optional:"" help:"The name of the table, such as //home/accounts."`
}

// shift finds out what the arguments are: a first one that is no spec file is the
// table, and what stands in its place belongs to rest, if there is a rest.
func (f *tableFlags) shift(rest *[]string) error {
	if f.noFile() {
		if f.Table != nil {
			if rest == nil {
				return &usageError{fmt.Errorf("%s is no spec file, whose name ends in .yson, .yaml, .yml or .json, and no data folder", *f.File)}
			}
			*rest = append([]string{*f.Table}, *rest...)
		}
		f.File, f.Table = nil, f.File
	}
	return nil
}

// one is shift for commands that are about one table.
func (f *tableFlags) one(rest *[]string) error {
	if err := f.shift(rest); err != nil {
		return err
	}
	if f.Table == nil {
		return &usageError{errors.New("which table? Give its name, such as //home/accounts")}
	}
	return nil
}

// openTables are the tables of a store, whether a pipeline runs on it or not.
type openTables struct {
	tables
	close func() error
}

// tables is store.Tables under a name that its method Tables does not hide.
type tables interface{ store.Tables }

// openTables opens the tables of a store that is there, which is held in [turns].
func (f *placeFlags) openTables(ctx context.Context, io *streams) (*openTables, error) {
	t := &turns{place: f, io: io}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	t.wait()
	return &openTables{t, t.end}, nil
}

// openOnce opens the tables until they are closed; a store is made if it may be.
func (f *placeFlags) openOnce(ctx context.Context, io *streams, make bool) (*openTables, error) {
	at, name, err := f.place()
	if err != nil {
		return nil, err
	}
	c, folder, err := at.find(ctx, io)
	var s storage
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		return &openTables{c.Tables(), closeClient(c)}, checkName(ctx, c, at, name)
	case folder != nil:
		s, err = openHeld(ctx, at, folder)
	case make:
		s, err = takePassing(ctx, io, at)
	default:
		err = fmt.Errorf("there is no store in %s: rondo table create makes one; or name another folder with --data", at)
	}
	if err != nil {
		return nil, err
	}
	if err := belongs(ctx, s, at, name); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &openTables{s, s.Close}, nil
}

// table is a table with its form.
type table struct {
	store.Rows
	store.Table
	form *schema.Table
}

// withTable opens a table, does something with it and lets go of it.
func (f *tableFlags) withTable(ctx context.Context, io *streams, do func(ts *openTables, t *table) error) error {
	ts, err := f.openTables(ctx, io)
	if err != nil {
		return err
	}
	t, err := ts.named(ctx, *f.Table)
	if err == nil {
		err = do(ts, t)
	}
	return errors.Join(err, ts.close())
}

// named finds a table, with its form.
func (ts *openTables) named(ctx context.Context, name string) (*table, error) {
	t, err := ts.look(ctx, name)
	if err != nil {
		return nil, err
	}
	form, err := formOf(&t)
	return &table{ts, t, form}, err
}

// formOf reads the schema of a table.
func formOf(t *store.Table) (*schema.Table, error) {
	form, err := schema.ParseTable(t.Schema)
	if err != nil {
		err = fmt.Errorf("table %s: its schema cannot be read: %w", t.Name, err)
	}
	return form, err
}

// look finds a table by its name alone.
func (ts *openTables) look(ctx context.Context, name string) (store.Table, error) {
	all, err := ts.Tables(ctx)
	if err != nil {
		return store.Table{}, err
	}
	var known []string
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return store.Table{}, fmt.Errorf("there is no table %s: %s", name, yson.DidYouMean(name, known))
}

// key encodes a key from what was typed.
func (t *table) key(args []string) (string, error) {
	form, err := newKeyForm(&spec.Computation{ID: t.Name, GroupBy: t.form.Key()})
	if err != nil {
		return "", err
	}
	return form.whole(args)
}

// object is a row as a line of JSON.
func (t *table) object(key string, value []byte) (string, error) {
	row, err := t.decode(key, value)
	if err != nil {
		return "", err
	}
	line, err := rowtext.NewJSONEncoder(t.form.Columns()).AppendRow(nil, row)
	if err != nil {
		err = fmt.Errorf("table %s: the row %x cannot be shown: %w", t.Name, key, err)
	}
	return string(line), err
}

// decode reads a row of the table.
func (t *table) decode(key string, value []byte) (schema.Row, error) {
	row, err := t.form.Decode(key, value)
	if err != nil {
		err = fmt.Errorf("table %s: the row %x is none of its schema: %w", t.Name, key, err)
	}
	return row, err
}

// rowReader reads the rows of a table in order from a key on, page by page.
type rowReader struct {
	table *table
	from  string
	page  *store.ListAnswer
	at    int
}

// next returns the next row as it is stored, and io.EOF behind the last.
func (r *rowReader) next(ctx context.Context) (key string, value []byte, err error) {
	for r.page == nil || r.at == len(r.page.Keys) {
		if r.page != nil {
			if r.page.Complete {
				return "", nil, io.EOF
			}
			r.from = r.page.CompleteTo
		}
		if r.page, err = r.table.ListRows(ctx, r.table.ID, store.ListRequest{Lower: r.from, MaxBytes: pageBytes}); err != nil {
			return "", nil, err
		}
		r.at = 0
	}
	k := &r.page.Keys[r.at]
	r.at++
	return k.Key, k.Rows[0].Value, nil
}

// row returns the next row.
func (r *rowReader) row(ctx context.Context) (schema.Row, error) {
	key, value, err := r.next(ctx)
	if err != nil {
		return nil, err
	}
	return r.table.decode(key, value)
}

// batchBytes is how much is written in one transaction. It fits into a request.
const batchBytes = 384 << 10

// batch writes rows, a few at a time.
type batch struct {
	table *table
	rows  []store.TableWrite
	keys  map[string]bool
	bytes int
	count int
}

// add takes a row. One that is written again goes into the next transaction.
func (b *batch) add(ctx context.Context, key string, value []byte) error {
	size := len(key) + len(value) + 32
	if b.keys[key] || b.bytes+size > batchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	if b.keys == nil {
		b.keys = map[string]bool{}
	}
	b.rows, b.bytes = append(b.rows, store.TableWrite{Table: b.table.ID, Key: key, Value: value}), b.bytes+size
	b.keys[key] = true
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.rows) == 0 {
		return nil
	}
	if err := b.table.WriteRows(ctx, b.rows); err != nil {
		return err
	}
	b.count += len(b.rows)
	b.rows, b.bytes = b.rows[:0], 0
	clear(b.keys)
	return nil
}

// parseRow reads a row from a JSON object, or from column=value.
func (t *table) parseRow(args []string) (schema.Row, error) {
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		return t.parseObject(args[0])
	}
	row := make(schema.Row, t.form.Columns().Len())
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		i, known := t.form.Columns().Index(name)
		switch {
		case !ok:
			return nil, &usageError{fmt.Errorf("%s: give a column and its value, such as count=5", arg)}
		case !known:
			return nil, t.noColumn(name)
		}
		v, err := parseValue(&t.form.Columns().Columns()[i], text)
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}

func parseValue(c *schema.Column, text string) (schema.Value, error) {
	if c.Type == schema.TypeAny {
		return rowtext.ParseAny(c, text)
	}
	return c.ParseText(text)
}

func (t *table) noColumn(name string) error {
	return fmt.Errorf("table %s has no column %s: %s", t.Name, name, yson.DidYouMean(name, t.form.Columns().Names()))
}

func (t *table) parseObject(text string) (schema.Row, error) {
	var columns []schema.Column
	for _, c := range t.form.Columns().Columns() {
		columns = append(columns, schema.Column{Name: c.Name, Type: c.Type})
	}
	s, err := schema.New(columns)
	if err != nil {
		return nil, err
	}
	d := rowtext.NewJSONDecoder(s)
	d.Unknown = t.noColumn
	row := make(schema.Row, s.Len())
	if there, err := d.Decode(text, row); err != nil || !there {
		return nil, err
	}
	return row, nil
}

func tell(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, "rondo: "+format+"\n", args...)
	return err
}
