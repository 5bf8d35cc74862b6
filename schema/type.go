package schema

import (
	"fmt"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// Type is the logical type of a column.
type Type uint8

// The column types. TypeDate, TypeDatetime, TypeTimestamp and TypeInterval count days,
// seconds, microseconds and signed microseconds since 1970.
const (
	TypeInt8 Type = iota + 1
	TypeInt16
	TypeInt32
	TypeInt64
	TypeUint8
	TypeUint16
	TypeUint32
	TypeUint64
	TypeFloat
	TypeDouble
	TypeBoolean
	TypeString
	TypeUTF8
	TypeAny
	TypeDate
	TypeDatetime
	TypeTimestamp
	TypeInterval

	typeCount
)

// typeInfo is what the rest of the package knows about a type: its name, the
// kind of its values, and the inclusive range of those that are integers.
type typeInfo struct {
	name     string
	kind     Kind
	min, max int64  // of KindInt64
	umax     uint64 // of KindUint64
}

// maxDays is the first day that date columns cannot hold (2106-01-01).
const maxDays = 49673

var typeInfos = [typeCount]typeInfo{
	TypeInt8:      {name: "int8", kind: KindInt64, min: -1 << 7, max: 1<<7 - 1},
	TypeInt16:     {name: "int16", kind: KindInt64, min: -1 << 15, max: 1<<15 - 1},
	TypeInt32:     {name: "int32", kind: KindInt64, min: -1 << 31, max: 1<<31 - 1},
	TypeInt64:     {name: "int64", kind: KindInt64, min: -1 << 63, max: 1<<63 - 1},
	TypeUint8:     {name: "uint8", kind: KindUint64, umax: 1<<8 - 1},
	TypeUint16:    {name: "uint16", kind: KindUint64, umax: 1<<16 - 1},
	TypeUint32:    {name: "uint32", kind: KindUint64, umax: 1<<32 - 1},
	TypeUint64:    {name: "uint64", kind: KindUint64, umax: 1<<64 - 1},
	TypeFloat:     {name: "float", kind: KindDouble},
	TypeDouble:    {name: "double", kind: KindDouble},
	TypeBoolean:   {name: "boolean", kind: KindBoolean},
	TypeString:    {name: "string", kind: KindString},
	TypeUTF8:      {name: "utf8", kind: KindString},
	TypeAny:       {name: "any", kind: KindAny},
	TypeDate:      {name: "date", kind: KindUint64, umax: maxDays - 1},
	TypeDatetime:  {name: "datetime", kind: KindUint64, umax: maxDays*86400 - 1},
	TypeTimestamp: {name: "timestamp", kind: KindUint64, umax: maxDays*86400*1e6 - 1},
	TypeInterval:  {name: "interval", kind: KindInt64, min: -maxDays*86400*1e6 + 1, max: maxDays*86400*1e6 - 1},
}

// TypeNames returns the names of all types, in the order of the constants.
func TypeNames() []string {
	names := make([]string, 0, typeCount-1)
	for _, info := range typeInfos[1:] {
		names = append(names, info.name)
	}
	return names
}

// ParseType returns the type with the given name; bool is taken for boolean,
// yson for any. The error of an unknown name proposes one, or lists all.
func ParseType(name string) (Type, error) {
	switch name {
	case "bool":
		return TypeBoolean, nil
	case "yson":
		return TypeAny, nil
	}
	for t := TypeInt8; t < typeCount; t++ {
		if typeInfos[t].name == name {
			return t, nil
		}
	}
	if near := yson.Suggest(name, TypeNames()); near != "" {
		return 0, fmt.Errorf("unknown column type %q: did you mean %s?", name, near)
	}
	return 0, fmt.Errorf("unknown column type %q: use one of %s", name, strings.Join(TypeNames(), ", "))
}

// Valid reports whether t is one of the declared types; the zero Type is not.
func (t Type) Valid() bool { return t > 0 && t < typeCount }

// String returns the name that [ParseType] reads.
func (t Type) String() string {
	if !t.Valid() {
		return "unknown"
	}
	return typeInfos[t].name
}

// Kind returns the physical kind of the type's values.
func (t Type) Kind() Kind {
	if !t.Valid() {
		return KindNull
	}
	return typeInfos[t].kind
}

// Like tells whether columns of both types hold the same values: string and utf8 count
// as one type, since other programs know only one of them.
func (t Type) Like(other Type) bool {
	return t == other || t.Kind() == KindString && other.Kind() == KindString
}

// TimeUnit is what the values of a type of time count since 1970, 0 for other
// types.
func (t Type) TimeUnit() time.Duration {
	switch t {
	case TypeDate:
		return 24 * time.Hour
	case TypeDatetime:
		return time.Second
	case TypeTimestamp:
		return time.Microsecond
	default:
		return 0
	}
}

// MarshalText returns the type's name.
func (t Type) MarshalText() ([]byte, error) {
	if !t.Valid() {
		return nil, fmt.Errorf("column type %d does not exist", uint8(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText parses the type's name.
func (t *Type) UnmarshalText(text []byte) error {
	parsed, err := ParseType(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
