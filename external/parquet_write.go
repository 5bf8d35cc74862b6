package external

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/rondo-flow/rondo/schema"
)

// ordered is a group of columns in the order of a schema; the library's own sorts
// them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

// field is a named column.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

// Value is for Go structs, which no rows here are made of.
func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetWriter writes rows as Parquet. Its pages are small: where a bucket begins,
// one of each column is read in vain.
type parquetWriter struct {
	writer  *parquet.GenericWriter[any]
	columns *schema.Schema
	row     parquet.Row
	levels  []int
	group   int // bytes in the row group
}

const (
	pageBytes  = 16 << 10
	groupBytes = 16 << 20
)

func newParquetWriter(out io.Writer, s *schema.Schema) (*parquetWriter, error) {
	text, err := schemaText(s)
	if err != nil {
		return nil, err
	}
	root := ordered{Group: parquet.Group{}}
	w := &parquetWriter{columns: s, row: make(parquet.Row, s.Len())}
	options := []parquet.WriterOption{
		parquet.PageBufferSize(pageBytes), parquet.Compression(&parquet.Snappy),
		parquet.KeyValueMetadata(schemaKey, string(text)), parquet.CreatedBy("rondo", "", ""),
	}
	for _, c := range s.Columns() {
		n := nodeFor(c)
		root.Group[c.Name] = n
		root.fields = append(root.fields, field{n, c.Name})
		if n.Type().Kind() == parquet.ByteArray {
			// Bounds are whole values: those of long ones would be most of the file, and
			// a footer that is too long to be read.
			options = append(options, parquet.SkipPageBounds(c.Name), parquet.SkipPageStatistics(c.Name))
		}
		level := 0
		if !c.Required {
			level = 1
		}
		w.levels = append(w.levels, level)
	}
	w.writer = parquet.NewGenericWriter[any](out, append(options, parquet.NewSchema("table", root))...)
	return w, nil
}

func (w *parquetWriter) write(row schema.Row) error {
	for i, v := range row {
		level := w.levels[i]
		if v.IsNull() {
			level = 0
		}
		w.row[i] = toParquet(v, w.columns.Columns()[i].Type).Level(0, level, i)
	}
	if _, err := w.writer.WriteRows([]parquet.Row{w.row}); err != nil {
		return err
	}
	if w.group += sizeOf(row); w.group < groupBytes {
		return nil
	}
	w.group = 0
	return w.writer.Flush()
}

func (w *parquetWriter) finish() error { return w.writer.Close() }
