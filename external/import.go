package external

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// StoredRow is a row as a table in a store has it.
type StoredRow struct {
	Key   string
	Value []byte

	at place
}

// ErrKeyTwice tells that two rows of a file have one key.
var ErrKeyTwice = errors.New("keep one of the rows")

// Twice is the error for a row whose key an earlier row has too, which Put was given
// before. It reads the file once more, to find that.
func (o ImportOptions) Twice(ctx context.Context, r StoredRow) error {
	var first place
	found := errors.New("found")
	o.Progress, o.Put = nil, func(_ context.Context, rows []StoredRow) error {
		for _, is := range rows {
			if is.Key == r.Key {
				first = is.at
				return found
			}
		}
		return nil
	}
	if _, err := Import(ctx, o); !errors.Is(err, found) {
		return errors.Join(err, ErrKeyTwice) // the file has changed meanwhile
	}
	key, err := schema.DecodeKey(r.Key)
	if err != nil {
		return err
	}
	return keyTwice(r.at, key, first)
}

func keyTwice(at place, key schema.Row, first place) error {
	return fmt.Errorf("%s: the key %v is also at %s: %w", at, key, first, ErrKeyTwice)
}

// ImportOptions say what is imported, and where it goes.
type ImportOptions struct {
	// In is a file in any order: Parquet, CSV with a header or JSON Lines, by the end
	// of its name. Its columns are found by their names; all of them must be the
	// table's. Columns that it lacks become null, or are computed; those of the key
	// have to be there.
	In    string
	Table *schema.Table
	// Put takes the next rows, which are its own, in the order of the file. They are
	// at most BatchBytes, or one row, and no key is among them twice.
	Put        func(ctx context.Context, rows []StoredRow) error
	BatchBytes int
	// Unique makes a key that comes twice among rows that would be put at once an error.
	// Else they are put one after the other, so that the later one stays.
	Unique bool
	// Progress, if given, is told after each Put how far the import is.
	Progress func(SortProgress)
}

// rowOverhead is about what a row takes beside its key and value wherever it goes.
const rowOverhead = 32

// Import reads a file, checks each row and hands the rows on, a few at a time. It
// returns how many rows were put. Errors name the row's place.
func Import(ctx context.Context, o ImportOptions) (rows int64, err error) {
	in, err := openImport(&o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	b := importBatch{o: &o, in: in}
	for {
		row, at, err := in.cursor.next(ctx)
		end := err == io.EOF
		switch {
		case end:
			err = b.put(ctx)
		case err == nil:
			in.row++
			err = b.add(ctx, row, at)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", o.In, err)
		}
		if end || err != nil {
			return b.done, err
		}
	}
}

// importBatch is what has been read and not been put.
type importBatch struct {
	o      *ImportOptions
	in     *importInput
	rows   []StoredRow
	places map[string]place
	bytes  int
	done   int64
}

// add takes a row of the file.
func (b *importBatch) add(ctx context.Context, row schema.Row, at place) error {
	out := make(schema.Row, b.o.Table.Columns().Len())
	for i, column := range b.in.places {
		out[column] = row[i]
	}
	key, value, err := b.o.Table.Encode(out)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	first, twice := b.places[key]
	if twice && b.o.Unique {
		return keyTwice(at, out[:b.o.Table.Key().Len()], first)
	}
	size := len(key) + len(value) + rowOverhead
	if twice || b.bytes+size > b.o.BatchBytes {
		if err := b.put(ctx); err != nil {
			return err
		}
	}
	if b.places == nil {
		b.places = map[string]place{}
	}
	b.places[key] = at
	b.rows, b.bytes = append(b.rows, StoredRow{key, value, at}), b.bytes+size
	return nil
}

func (b *importBatch) put(ctx context.Context) error {
	if len(b.rows) == 0 {
		return nil
	}
	if err := b.o.Put(ctx, b.rows); err != nil {
		return err
	}
	b.done += int64(len(b.rows))
	b.rows, b.bytes = nil, 0
	clear(b.places)
	if b.o.Progress != nil {
		b.o.Progress(SortProgress{Read: b.done, Part: b.in.part()})
	}
	return nil
}

// importInput is a file that is read for a table.
type importInput struct {
	input
	places []int // of the file's columns in the table
}

func openImport(o *ImportOptions) (*importInput, error) {
	in := &importInput{}
	return in, in.open(o.In, func(format Format, src *blocks) error { return in.openAs(format, o.Table, src) })
}

// openAs finds the content of a file for the columns of a table. Of JSON Lines, any may be missing in any row; a
// header says which there are; Parquet has types, which must be the same.
func (in *importInput) openAs(format Format, of *schema.Table, src *blocks) error {
	table := of.Columns()
	columns := given(table)
	switch format {
	case FormatParquet:
		t, err := openParquet(src, in.size, "")
		if err != nil {
			return err
		}
		in.content, in.rows = t, t.rows()
		columns = t.schema().Columns()
	case FormatCSV:
		header, err := csvHeader(src, in.size)
		if err != nil {
			return err
		}
		columns = nil
		for _, name := range header {
			c := schema.Column{Name: name, Type: schema.TypeUTF8}
			if i, ok := table.Index(name); ok {
				c.Type = table.Columns()[i].Type
			}
			columns = append(columns, c)
		}
	}
	s, err := schema.New(columns)
	if err != nil {
		return err
	}
	if err := errors.Join(in.place(s, table), hasKey(s, of.Key())); err != nil {
		return err
	}
	if format != FormatParquet {
		in.content = &text{format: format, src: src, size: in.size, columns: s}
		in.read.Store(0) // reading the header is not progress
	}
	return nil
}

// given are the columns of a table as a file may give them.
func given(table *schema.Schema) (out []schema.Column) {
	for _, c := range table.Columns() {
		out = append(out, schema.Column{Name: c.Name, Type: c.Type})
	}
	return out
}

func noColumn(name string, table *schema.Schema) error {
	return fmt.Errorf("the table has no column %s: %s", name, yson.DidYouMean(name, table.Names()))
}

// hasKey makes sure that a file has the columns of the key that are not computed.
func hasKey(file, key *schema.Schema) error {
	var problems []error
	for _, c := range key.Columns() {
		if _, ok := file.Index(c.Name); !ok && c.Expression == "" {
			problems = append(problems, fmt.Errorf("the file has no column %s, which is part of the key: add it, or rename the one that has it", c.Name))
		}
	}
	return errors.Join(problems...)
}

// place finds the file's columns in the table.
func (in *importInput) place(file, table *schema.Schema) error {
	var problems []error
	for _, c := range file.Columns() {
		i, ok := table.Index(c.Name)
		if !ok {
			problems = append(problems, noColumn(c.Name, table))
			continue
		}
		if want := table.Columns()[i]; !c.Type.Like(want.Type) {
			problems = append(problems, fmt.Errorf("column %s is %s in the file and %s in the table: make them equal", c.Name, c.Type, want.Type))
		}
		in.places = append(in.places, i)
	}
	return errors.Join(problems...)
}

// Export writes rows, as next gives them until io.EOF, to a file in the format that
// its name tells. The file takes the place of a former one as a whole, and a text
// gets a .meta file. It returns how many rows there were.
func Export(ctx context.Context, path string, table *schema.Schema, next func(context.Context) (schema.Row, error)) (int64, error) {
	var columns []schema.Column
	for _, c := range table.Columns() {
		columns = append(columns, schema.Column{Name: c.Name, Type: c.Type, Required: c.MustNotBeNull()})
	}
	s, err := schema.New(columns)
	if err != nil {
		return 0, err
	}
	o, err := create(path, s)
	if err != nil {
		return 0, err
	}
	for {
		row, err := next(ctx)
		if err == io.EOF {
			return o.count, o.finish()
		}
		if err == nil {
			err = s.CheckYSON(row)
		}
		if err == nil {
			err = o.write(row)
		}
		if err != nil {
			return o.count, errors.Join(err, o.abandon())
		}
	}
}
