package pgstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// transport is the type in which values of a column travel, as arrays. There are
// only a few: the server turns them into the column's own type.
type transport string

const (
	asInt     transport = "bigint"
	asDouble  transport = "double precision"
	asBoolean transport = "boolean"
	asText    transport = "text"
	asBytes   transport = "bytea"
	asTime    transport = "timestamptz"
)

// column is a column of a user's table that a schema names.
type column struct {
	schema.Column
	quoted string
	travel transport
	// What turns a column into what travels, and back; and what sorts it as keys are
	// sorted, with what travels made comparable to that. Each has one %s.
	read, write, order, bound string
}

// columnOf finds out how a column of the database holds values of a column of the
// schema.
func columnOf(c schema.Column, is *pgsql.RelationColumnsRow) (column, error) {
	out := column{Column: c, quoted: pgx.Identifier{is.Name}.Sanitize(), read: "%s", write: "%s", order: "%s"}
	if !out.hold(is) {
		return out, fmt.Errorf("column %s is %s in the database, which holds no values of type %s: %s", c.Name, is.Type, c.Type, holders(c.Type))
	}
	inKey := c.SortOrder != ""
	switch {
	case is.Generated != "" || is.Identity == "a":
		return out, fmt.Errorf("column %s is computed by the database, so that nobody else may write it: leave it out of the schema", c.Name)
	case inKey && strings.HasPrefix(is.Type, "json"):
		return out, fmt.Errorf("column %s is %s in the database, and cannot be part of a key: make it text", c.Name, is.Type)
	case inKey && !is.Deterministic:
		return out, fmt.Errorf("column %s has a collation for which different texts are equal, and cannot be part of a key: give it another collation", c.Name)
	}
	out.bound = out.write
	if out.travel == asText && c.Type.Kind() == schema.KindString {
		out.order, out.bound = `%s::text COLLATE "C"`, "%s"
	}
	return out, nil
}

// holdsUint64 finds the numeric types of at least 20 digits, all before the point.
var holdsUint64 = regexp.MustCompile(`\(([2-9]\d|\d{3,}),0\)$`)

var typeModifier = regexp.MustCompile(`\([0-9, ]*\)`)

// hold sets how values travel, and tells whether the column holds them.
func (c *column) hold(is *pgsql.RelationColumnsRow) bool {
	text := c.Type.Kind() == schema.KindString
	if is.TypeKind == "e" {
		c.travel, c.read, c.write = asText, "%s::text", "%s::"+strings.ReplaceAll(is.Type, "%", "%%")
		return text
	}
	switch name := typeModifier.ReplaceAllString(is.Type, ""); name {
	case "smallint", "integer", "bigint":
		c.travel, c.read = asInt, "%s::bigint"
		return c.Type != schema.TypeUint64 && (c.Type.Kind() == schema.KindInt64 || c.Type.Kind() == schema.KindUint64)
	case "numeric":
		c.travel, c.read, c.write = asText, "%s::text", "%s::numeric"
		return c.Type == schema.TypeUint64 && (is.Type == name || holdsUint64.MatchString(is.Type))
	case "bytea":
		c.travel = asBytes
		return c.Type == schema.TypeUint64 || c.Type == schema.TypeString
	case "text", "character varying":
		c.travel, c.read = asText, "%s::text"
		return text || c.Type == schema.TypeAny
	case "uuid", "json", "jsonb":
		c.travel, c.read, c.write = asText, "%s::text", "%s::"+name
		return text
	case "real":
		c.travel, c.read = asDouble, "%s::double precision"
		return c.Type == schema.TypeFloat
	case "double precision":
		c.travel = asDouble
		return c.Type.Kind() == schema.KindDouble
	case "boolean":
		c.travel = asBoolean
		return c.Type == schema.TypeBoolean
	case "timestamp with time zone":
		c.travel = asTime
	case "timestamp without time zone":
		c.travel, c.read, c.write = asTime, "(%s AT TIME ZONE 'UTC')", "(%s AT TIME ZONE 'UTC')"
	case "date":
		c.travel, c.read, c.write = asTime, "(%s::timestamp AT TIME ZONE 'UTC')", "(%s AT TIME ZONE 'UTC')::date"
		return c.Type == schema.TypeDate
	default:
		return false
	}
	return c.Type == schema.TypeTimestamp || c.Type == schema.TypeDatetime
}

// holders are the types of the database that hold values of a type.
func holders(t schema.Type) string {
	switch t {
	case schema.TypeUint64:
		return "make it bytea (8 bytes) or numeric(20)"
	case schema.TypeFloat:
		return "make it real or double precision"
	case schema.TypeDouble:
		return "make it double precision"
	case schema.TypeBoolean:
		return "make it boolean"
	case schema.TypeUTF8:
		return "make it text, varchar, uuid, an enum, json or jsonb"
	case schema.TypeString:
		return "make it bytea, text, varchar, uuid, an enum, json or jsonb"
	case schema.TypeAny:
		return "make it text"
	case schema.TypeDate:
		return "make it date or bigint"
	case schema.TypeDatetime, schema.TypeTimestamp:
		return "make it timestamptz, timestamp or bigint"
	}
	return "make it bigint, integer or smallint"
}

// array turns values into what is sent.
func (c *column) array(values []schema.Value) any {
	switch c.travel {
	case asInt:
		return arrayOf(values, func(v schema.Value) int64 { return int64(v.AsUint64()) }) // the same bits
	case asDouble:
		return arrayOf(values, schema.Value.AsDouble)
	case asBoolean:
		return arrayOf(values, schema.Value.AsBoolean)
	case asTime:
		return arrayOf(values, c.time)
	case asBytes:
		return bytesOf(values)
	}
	return arrayOf(values, func(v schema.Value) string {
		if v.Kind() == schema.KindUint64 {
			return strconv.FormatUint(v.AsUint64(), 10)
		}
		return v.AsString()
	})
}

func arrayOf[T any](values []schema.Value, of func(schema.Value) T) []*T {
	out := make([]*T, len(values))
	for i, v := range values {
		if !v.IsNull() {
			one := of(v)
			out[i] = &one
		}
	}
	return out
}

func bytesOf(values []schema.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		switch v.Kind() {
		case schema.KindNull:
		case schema.KindUint64:
			out[i] = binary.BigEndian.AppendUint64(nil, v.AsUint64())
		default:
			out[i] = append([]byte{}, v.AsString()...)
		}
	}
	return out
}

func (c *column) time(v schema.Value) time.Time {
	n, unit := int64(v.AsUint64()), c.Type.TimeUnit()
	if unit >= time.Second {
		return time.Unix(n*int64(unit/time.Second), 0).UTC()
	}
	return time.UnixMicro(n).UTC()
}

// target is where a value that travels is put by Scan.
func (c *column) target() any {
	switch c.travel {
	case asInt:
		return new(pgtype.Int8)
	case asDouble:
		return new(pgtype.Float8)
	case asBoolean:
		return new(pgtype.Bool)
	case asTime:
		return new(pgtype.Timestamptz)
	case asBytes:
		return new([]byte)
	}
	return new(pgtype.Text)
}

// value reads what Scan has put there.
func (c *column) value(target any) (schema.Value, error) {
	switch t := target.(type) {
	case *pgtype.Int8:
		switch {
		case !t.Valid:
		case c.Type.Kind() == schema.KindInt64:
			return schema.Int64(t.Int64), nil
		case t.Int64 < 0:
			return schema.Value{}, fmt.Errorf("%d is no %s", t.Int64, c.Type)
		default:
			return schema.Uint64(uint64(t.Int64)), nil
		}
	case *pgtype.Float8:
		if t.Valid {
			return schema.Double(t.Float64), nil
		}
	case *pgtype.Bool:
		if t.Valid {
			return schema.Boolean(t.Bool), nil
		}
	case *pgtype.Timestamptz:
		if t.Valid {
			return c.timeOf(t)
		}
	case *[]byte:
		if *t != nil {
			return c.bytes(*t)
		}
	case *pgtype.Text:
		if t.Valid {
			return c.text(t.String)
		}
	}
	return schema.Null(), nil
}

func (c *column) bytes(b []byte) (schema.Value, error) {
	switch {
	case c.Type != schema.TypeUint64:
		return schema.String(string(b)), nil
	case len(b) != 8:
		return schema.Value{}, fmt.Errorf("it has %d bytes, and a uint64 has 8", len(b))
	}
	return schema.Uint64(binary.BigEndian.Uint64(b)), nil
}

func (c *column) text(s string) (schema.Value, error) {
	switch c.Type.Kind() {
	case schema.KindUint64:
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return schema.Value{}, fmt.Errorf("%s is no uint64", s)
		}
		return schema.Uint64(n), nil
	case schema.KindAny:
		return schema.Any(s), nil
	}
	return schema.String(s), nil
}

func (c *column) timeOf(t *pgtype.Timestamptz) (schema.Value, error) {
	if t.InfinityModifier != pgtype.Finite {
		return schema.Value{}, errors.New("it is infinite")
	}
	n, unit := t.Time.UnixMicro(), int64(c.Type.TimeUnit()/time.Microsecond)
	if n < 0 || n%unit != 0 {
		return schema.Value{}, fmt.Errorf("%s is no %s", t.Time.UTC().Format(time.RFC3339Nano), c.Type)
	}
	return schema.Uint64(uint64(n / unit)), nil
}
