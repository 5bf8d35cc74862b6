package external

import (
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/rondo-flow/rondo/schema"
)

// schemaKey is the metadata under which a table says its types in our words: some
// have none in Parquet.
const schemaKey = "rondo.schema"

// columnsOf reads the columns of a Parquet file.
func columnsOf(f *parquet.File) (*schema.Schema, error) {
	if text, ok := f.Lookup(schemaKey); ok {
		s, err := parseSchema([]byte(text))
		if err == nil {
			err = sameColumns(s, f)
		}
		if err != nil {
			return nil, malformedf("the schema in its metadata: %w", err)
		}
		return s, nil
	}
	var columns []schema.Column
	for _, field := range f.Schema().Fields() {
		t, ok := typeOf(field)
		if !ok {
			return nil, malformedf("column %s is of a type that cannot be read, %s: leave it out of the table, or write it as text", field.Name(), field)
		}
		columns = append(columns, schema.Column{Name: field.Name(), Type: t, Required: field.Required()})
	}
	return schema.New(columns)
}

// sameColumns compares columns in our words with those in the words of Parquet.
func sameColumns(s *schema.Schema, f *parquet.File) error {
	fields := f.Schema().Fields()
	if len(fields) != s.Len() {
		return malformedf("%d columns, and the file has %d", s.Len(), len(fields))
	}
	for _, field := range fields {
		i, ok := s.Index(field.Name())
		if !ok {
			return malformedf("it lacks column %s", field.Name())
		}
		if want := nodeFor(s.Columns()[i]); !field.Leaf() || want.Type().Kind() != field.Type().Kind() {
			return malformedf("column %s is %s, and %s in the file", field.Name(), s.Columns()[i].Type, field)
		}
	}
	return nil
}

// typeOf returns the type of a column of the file.
func typeOf(n parquet.Node) (schema.Type, bool) {
	if !n.Leaf() || n.Repeated() {
		return 0, false
	}
	if l := n.Type().LogicalType(); l != nil {
		return logicalType(l)
	}
	switch n.Type().Kind() {
	case parquet.Boolean:
		return schema.TypeBoolean, true
	case parquet.Int32:
		return schema.TypeInt32, true
	case parquet.Int64:
		return schema.TypeInt64, true
	case parquet.Float:
		return schema.TypeFloat, true
	case parquet.Double:
		return schema.TypeDouble, true
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return schema.TypeString, true
	default:
		return 0, false
	}
}

func logicalType(l *format.LogicalType) (schema.Type, bool) {
	switch t := l.Value.(type) {
	case *format.StringType:
		return schema.TypeUTF8, true
	case *format.EnumType, *format.JsonType:
		return schema.TypeUTF8, true
	case *format.UUIDType:
		return schema.TypeString, true
	case *format.DateType:
		return schema.TypeDate, true
	case *format.TimestampType:
		_, micros := t.Unit.Value.(*format.MicroSeconds)
		return schema.TypeTimestamp, micros
	case *format.IntType:
		return intType(t)
	default:
		return 0, false
	}
}

func intType(t *format.IntType) (schema.Type, bool) {
	types := map[int8][2]schema.Type{
		8:  {schema.TypeUint8, schema.TypeInt8},
		16: {schema.TypeUint16, schema.TypeInt16},
		32: {schema.TypeUint32, schema.TypeInt32},
		64: {schema.TypeUint64, schema.TypeInt64},
	}
	pair, ok := types[t.BitWidth]
	if t.IsSigned {
		return pair[1], ok
	}
	return pair[0], ok
}

// nodeFor returns the column of a Parquet file that takes a column.
func nodeFor(c schema.Column) parquet.Node {
	n := plainNode(c.Type)
	if c.Required {
		return n
	}
	return parquet.Optional(n)
}

func plainNode(t schema.Type) parquet.Node {
	switch t {
	case schema.TypeInt8:
		return parquet.Int(8)
	case schema.TypeInt16:
		return parquet.Int(16)
	case schema.TypeInt32:
		return parquet.Int(32)
	case schema.TypeInt64, schema.TypeInterval:
		return parquet.Int(64)
	case schema.TypeUint8:
		return parquet.Uint(8)
	case schema.TypeUint16:
		return parquet.Uint(16)
	case schema.TypeUint32:
		return parquet.Uint(32)
	case schema.TypeUint64, schema.TypeDatetime:
		return parquet.Uint(64)
	case schema.TypeTimestamp:
		return parquet.Timestamp(parquet.Microsecond)
	case schema.TypeDate:
		return parquet.Date()
	case schema.TypeFloat:
		return parquet.Leaf(parquet.FloatType)
	case schema.TypeDouble:
		return parquet.Leaf(parquet.DoubleType)
	case schema.TypeBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case schema.TypeUTF8:
		return parquet.String()
	default:
		return parquet.Leaf(parquet.ByteArrayType)
	}
}

// fromParquet translates a value, false if its column's type has no such one.
func fromParquet(v parquet.Value, t schema.Type) (schema.Value, bool) {
	if v.IsNull() {
		return schema.Null(), true
	}
	switch v.Kind() {
	case parquet.Boolean:
		return schema.Boolean(v.Boolean()), true
	case parquet.Int32:
		if t.Kind() == schema.KindUint64 && t != schema.TypeDate {
			return schema.Uint64(uint64(v.Uint32())), true
		}
		return integer(int64(v.Int32()), t)
	case parquet.Int64:
		if t.Kind() == schema.KindUint64 && t != schema.TypeTimestamp {
			return schema.Uint64(v.Uint64()), true
		}
		return integer(v.Int64(), t)
	case parquet.Float:
		return schema.Double(float64(v.Float())), true
	case parquet.Double:
		return schema.Double(v.Double()), true
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if t == schema.TypeAny {
			return schema.Any(string(v.ByteArray())), true
		}
		return schema.String(string(v.ByteArray())), true
	default:
		return schema.Null(), false
	}
}

func integer(i int64, t schema.Type) (schema.Value, bool) {
	if t.Kind() == schema.KindInt64 {
		return schema.Int64(i), true
	}
	return schema.Uint64(uint64(i)), i >= 0
}

// toParquet is the reverse of fromParquet.
func toParquet(v schema.Value, t schema.Type) parquet.Value {
	if v.IsNull() {
		return parquet.NullValue()
	}
	switch plainNode(t).Type().Kind() {
	case parquet.Boolean:
		return parquet.BooleanValue(v.AsBoolean())
	case parquet.Int32:
		return parquet.Int32Value(int32(v.AsUint64() & math.MaxUint32))
	case parquet.Int64:
		return parquet.Int64Value(v.AsInt64())
	case parquet.Float:
		return parquet.FloatValue(float32(v.AsDouble()))
	case parquet.Double:
		return parquet.DoubleValue(v.AsDouble())
	default:
		return parquet.ByteArrayValue([]byte(v.AsString()))
	}
}
