package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// input is an unsorted table.
type input struct {
	file    file
	content content
	cursor  cursor
	size    int64
	read    *atomic.Int64
	rows    int64 // of Parquet, which knows
	row     int64
}

// openInput opens what is to be sorted. The types of JSON Lines without a .meta
// file are found by reading it.
func openInput(ctx context.Context, o *SortOptions) (*input, error) {
	in := &input{}
	return in, in.open(o.In, func(format Format, src *blocks) error { return in.openAs(ctx, o, format, src) })
}

// open opens a file from its beginning. content finds out what its rows are.
func (in *input) open(path string, content func(Format, *blocks) error) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	if in.file, err = (osDisk{}).open(path); err != nil {
		return openError(path, err)
	}
	in.read = &atomic.Int64{}
	at, err := in.file.stamp()
	if err == nil {
		in.size = at.size
		err = content(format, newBlocks(in.file, at.size, in.read))
	}
	if err == nil {
		in.cursor, err = in.content.seek("")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Join(err, in.file.Close()))
	}
	return nil
}

// openError names the path where the system did not.
func openError(path string, err error) error {
	if _, named := errors.AsType[*fs.PathError](err); named {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (in *input) openAs(ctx context.Context, o *SortOptions, format Format, src *blocks) error {
	if format == FormatParquet {
		if len(o.Types) > 0 {
			return errors.New("types are given, and Parquet has types: leave --type out")
		}
		t, err := openParquet(src, in.size, "")
		if err != nil {
			return err
		}
		in.content, in.rows = t, t.rows()
		return nil
	}
	columns, err := inputColumns(ctx, o, format, src, in.size)
	if err != nil {
		return err
	}
	in.content = &text{format: format, src: src, size: in.size, columns: columns}
	in.read.Store(0) // finding types is not progress
	return nil
}

func inputColumns(ctx context.Context, o *SortOptions, format Format, src io.ReaderAt, size int64) (*schema.Schema, error) {
	metas, err := readMetas(osDisk{}, o.In, size)
	if err != nil {
		return nil, err
	}
	var columns []schema.Column
	switch {
	case len(metas) > 0:
		columns = append(columns, metas[0].columns.Columns()...)
	case format == FormatJSON:
		columns, err = inferJSON(ctx, src, size, o.Types)
	default:
		var header []string
		header, err = csvHeader(src, size)
		for _, name := range header {
			columns = append(columns, schema.Column{Name: name, Type: schema.TypeUTF8})
		}
	}
	if err != nil {
		return nil, err
	}
	s, err := schema.New(columns)
	if err != nil {
		return nil, err
	}
	for name, t := range o.Types {
		i, ok := s.Index(name)
		if computes(o.Key, name) && (!ok || t != schema.TypeUint64) {
			return nil, fmt.Errorf("--type %s=%s: the column is computed by --key, as uint64: leave this out", name, t)
		}
		if !ok {
			return nil, fmt.Errorf("a type is given for column %s, which is not there: the columns are %s", name, strings.Join(s.Names(), ", "))
		}
		columns[i].Type = t
	}
	return schema.New(columns)
}

func (in *input) columns() *schema.Schema { return in.content.schema() }

func (in *input) next(ctx context.Context) (schema.Row, place, error) {
	row, at, err := in.cursor.next(ctx)
	if err == nil {
		in.row++
		if e := in.columns().Check(row); e != nil {
			err = fmt.Errorf("%s: %w", at, e)
		}
	}
	return row, at, err
}

// part is how much has been read.
func (in *input) part() float64 {
	if in.rows > 0 {
		return float64(in.row) / float64(in.rows)
	}
	return min(1, float64(in.read.Load())/float64(max(1, in.size)))
}

func (in *input) close() error { return errors.Join(in.cursor.close(), in.file.Close()) }

// transform makes rows of the sorted table from those of the input.
type transform struct {
	out     *schema.Schema
	places  []int // of the columns of out in the input, -1 for computed ones
	groupBy *schema.Schema
	grouper *schema.Grouper
	key     []byte
}

// newTransform reads the key, such as hash=farm_hash(iata),iata.
func newTransform(key string, in *schema.Schema) (*transform, error) {
	var columns, rest []schema.Column
	t := &transform{}
	isKey := map[string]bool{}
	for _, part := range splitKey(key) {
		name, expression, computed := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		c := schema.Column{Name: name, Type: schema.TypeUint64, Expression: strings.TrimSpace(expression), Required: true}
		at, ok := in.Index(name)
		switch {
		case name == "", computed && c.Expression == "":
			return nil, fmt.Errorf("--key: %q names no column, or gives it no expression: give the columns as in hash=farm_hash(iata),iata", part)
		case computed && ok && in.Columns()[at].Type != schema.TypeUint64:
			return nil, fmt.Errorf("--key: column %s is in the table already, as %s, and would be overwritten by %s: choose another name, "+
				"or, if it holds such hashes, say so with --type %s=uint64", name, in.Columns()[at].Type, c.Expression, name)
		case computed:
			at = -1
		case !ok:
			return nil, fmt.Errorf("--key: there is no column %s in the table: %s", name, yson.DidYouMean(name, in.Names()))
		default:
			c.Type = in.Columns()[at].Type
		}
		isKey[name] = true
		columns, t.places = append(columns, c), append(t.places, at)
	}
	if c := columns[0]; c.Type != schema.TypeUint64 {
		return nil, fmt.Errorf("--key: the first column must be uint64, the hash that ranges are cut by, and %s is %s: put hash=farm_hash(%s) before it", c.Name, c.Type, c.Name)
	}
	var err error
	if t.groupBy, err = schema.New(columns); err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	if err := schema.CheckGroupBy(t.groupBy); err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	inputs := append([]schema.Column(nil), in.Columns()...)
	for i, c := range in.Columns() {
		if isKey[c.Name] {
			inputs[i].Required = true
			continue
		}
		rest, t.places = append(rest, c), append(t.places, i)
	}
	keyed, err := schema.New(inputs)
	if err == nil {
		t.grouper, err = schema.NewGrouper(t.groupBy, keyed)
	}
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	for i := range columns {
		columns[i].Expression = ""
	}
	t.out, err = schema.New(append(columns, rest...))
	return t, err
}

// computes tells whether the key has an expression for a column.
func computes(key, column string) bool {
	return slices.ContainsFunc(splitKey(key), func(part string) bool {
		name, _, computed := strings.Cut(part, "=")
		return computed && strings.TrimSpace(name) == column
	})
}

// splitKey cuts at commas outside parentheses.
func splitKey(key string) (parts []string) {
	depth, from := 0, 0
	for i, r := range key {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			parts, from = append(parts, key[from:i]), i+1
		}
	}
	return append(parts, key[from:])
}

// apply returns the key of a row, and the row of the sorted table.
func (t *transform) apply(in schema.Row) (key string, out schema.Row, err error) {
	if t.key, _, err = t.grouper.AppendKey(t.key[:0], in); err != nil {
		return "", nil, err
	}
	key = string(t.key)
	values, err := schema.DecodeKey(key)
	if err != nil {
		return "", nil, err
	}
	out = make(schema.Row, len(t.places))
	for i, at := range t.places {
		if at < 0 {
			out[i] = values[i]
		} else {
			out[i] = in[at]
		}
	}
	return key, out, nil
}
