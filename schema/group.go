package schema

import (
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/yson"
)

// Grouper turns rows of one input stream into keys of one computation: plain
// group-by columns are copied by name, expression columns computed. It is
// immutable and may be used by many goroutines at once.
type Grouper struct {
	columns []groupColumn
	width   int // of the input rows
}

type groupColumn struct {
	name   string
	kind   Kind
	input  int         // of a plain column
	expr   *Expression // of an expression column
	noNull bool
}

// CheckGroupBy reports, all at once, what keeps groupBy from being the schema
// of keys: no columns, a first column that is not a non-null uint64 (KV-4), a
// floating-point or any column, an expression that is faulty, gives another
// type than uint64, or reads a column that is itself computed.
func CheckGroupBy(groupBy *Schema) error {
	if groupBy.Len() == 0 {
		return errors.New("no columns")
	}
	errs := []error{checkHashColumn(groupBy.columns[0])}
	for i, c := range groupBy.columns {
		errs = append(errs, checkGroupColumn(groupBy, c, i == 0))
	}
	return errors.Join(errs...)
}

func checkHashColumn(c Column) error {
	switch {
	case c.Type != TypeUint64:
		return columnError(c.Name, "the first column must be uint64, the hash that ranges are cut by, not %s: "+
			"put {name=hash; type=uint64; required=%%true; expression=\"farm_hash(...)\"} first", c.Type)
	case !c.MustNotBeNull():
		return columnError(c.Name, "the first column must not be null: add required=%%true")
	default:
		return nil
	}
}

func checkGroupColumn(groupBy *Schema, c Column, isHash bool) error {
	switch kind := c.Type.Kind(); {
	case kind == KindDouble || kind == KindAny:
		return columnError(c.Name, "%s cannot be part of a key", c.Type)
	case c.Expression == "":
		return nil
	case c.Type != TypeUint64:
		return columnError(c.Name, "a column with an expression must be uint64, not %s", c.Type)
	}
	expr, err := compileGroupExpression(c, groupBy, groupBy)
	if err == nil && isHash && expr.Uses("%") {
		return columnError(c.Name, "%% in the hash leaves most of the range empty: partitions could not share the keys")
	}
	return err
}

// compileGroupExpression compiles c's expression over the plain columns of
// groupBy, as they lie in rows of input.
func compileGroupExpression(c Column, groupBy, input *Schema) (*Expression, error) {
	expr, err := compileExpression(c.Expression, func(name string) (int, Kind, error) {
		i, ok := groupBy.Index(name)
		if !ok {
			return 0, 0, fmt.Errorf("%q is no column of the key: %s", name, addOrMean(name, groupBy))
		}
		if groupBy.columns[i].Expression != "" {
			return 0, 0, fmt.Errorf("column %q has an expression itself: use plain columns", name)
		}
		at, ok := input.Index(name)
		if !ok {
			return 0, 0, fmt.Errorf("%q is no column of the input", name)
		}
		return at, groupBy.columns[i].Type.Kind(), nil
	})
	if err != nil {
		return nil, &ColumnError{Column: c.Name, Err: err}
	}
	if expr.Kind() != KindUint64 {
		return nil, columnError(c.Name, "the expression gives %s, want uint64", expr.Kind())
	}
	return expr, nil
}

// addOrMean says what to do about a column that groupBy does not have.
func addOrMean(name string, groupBy *Schema) string {
	if near := yson.Suggest(name, groupBy.names()); near != "" {
		return "did you mean " + near + "? If not, add it there"
	}
	return "add it there"
}

// NewGrouper compiles groupBy for rows of input. All problems are reported
// together: those of [CheckGroupBy], and plain columns that input lacks, has
// with another type, or allows to be null where groupBy does not.
func NewGrouper(groupBy, input *Schema) (*Grouper, error) {
	if err := CheckGroupBy(groupBy); err != nil {
		return nil, err
	}
	g := &Grouper{width: input.Len(), columns: make([]groupColumn, groupBy.Len())}
	var errs []error
	for i, c := range groupBy.columns {
		if c.Expression == "" {
			errs = append(errs, g.copyColumn(i, c, input))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, c := range groupBy.columns {
		if c.Expression == "" {
			continue
		}
		expr, err := compileGroupExpression(c, groupBy, input)
		if err != nil {
			return nil, err
		}
		g.columns[i] = groupColumn{name: c.Name, kind: KindUint64, expr: expr, noNull: true}
	}
	return g, nil
}

func (g *Grouper) copyColumn(i int, c Column, input *Schema) error {
	at, ok := input.Index(c.Name)
	if !ok {
		return columnError(c.Name, "it is not in the input: add it to the stream's schema or give it an expression")
	}
	in := input.columns[at]
	switch {
	case in.Type != c.Type:
		return columnError(c.Name, "it is %s here and %s in the input: use one type", c.Type, in.Type)
	case c.Required && !in.MustNotBeNull():
		return columnError(c.Name, "it is required, but the input allows null: add required=%%true to the stream's column")
	}
	g.columns[i] = groupColumn{name: c.Name, kind: c.Type.Kind(), input: at, noNull: c.MustNotBeNull()}
	return nil
}

// AppendKey appends the encoded key of row to dst and returns it with its
// leading hash. It allocates only if dst is too small or an expression makes
// strings. A row that does not fit, or an expression that fails, is an error
// that names the column; dst is then returned as it was.
func (g *Grouper) AppendKey(dst []byte, row Row) (key []byte, hash uint64, err error) {
	if len(row) != g.width {
		return dst, 0, fmt.Errorf("row has %d values, its schema has %d columns", len(row), g.width)
	}
	key = dst
	for i := range g.columns {
		c := &g.columns[i]
		v := Value{}
		if c.expr == nil {
			v = row[c.input]
		} else if v, err = c.expr.Eval(row); err != nil {
			return dst, 0, columnError(c.name, "in the key: %w", err)
		}
		if v.kind != c.kind && (c.noNull || !v.IsNull()) {
			return dst, 0, c.refuse(v)
		}
		if i == 0 {
			hash = v.num
		}
		key = appendKeyColumn(key, &v)
	}
	return key, hash, nil
}

func (c *groupColumn) refuse(v Value) error {
	if v.IsNull() {
		return columnError(c.name, "in the key: null in a required column")
	}
	return columnError(c.name, "in the key: %s is %s, want %s", shorten(v), v.kind, c.kind)
}
