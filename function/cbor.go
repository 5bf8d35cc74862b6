package function

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/rondo-flow/rondo/schema"
)

// The part of CBOR (RFC 8949) that values of columns need: items of definite
// length, integers in their shortest form, doubles in 64 bits.
const (
	majorUnsigned byte = iota << 5
	majorNegative
	majorBytes
	majorText
	_ // arrays
	majorMap
	_ // tags
	majorSimple

	itemFalse  = majorSimple | 20
	itemTrue   = majorSimple | 21
	itemNull   = majorSimple | 22
	itemDouble = majorSimple | 27
)

// appendHead appends the head of an item: its major type and a number.
func appendHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), n)
	}
}

// appendText appends text, or bytes where it is no UTF-8.
func appendText(b []byte, s string) []byte {
	major := majorText
	if !utf8.ValidString(s) {
		major = majorBytes
	}
	return append(appendHead(b, major, uint64(len(s))), s...)
}

// appendItem appends a value of a column.
func appendItem(b []byte, v schema.Value) []byte {
	switch v.Kind() {
	case schema.KindInt64:
		if n := v.AsInt64(); n < 0 {
			return appendHead(b, majorNegative, uint64(^n))
		}
		return appendHead(b, majorUnsigned, v.AsUint64())
	case schema.KindUint64:
		return appendHead(b, majorUnsigned, v.AsUint64())
	case schema.KindDouble:
		return binary.BigEndian.AppendUint64(append(b, itemDouble), math.Float64bits(v.AsDouble()))
	case schema.KindBoolean:
		if v.AsBoolean() {
			return append(b, itemTrue)
		}
		return append(b, itemFalse)
	case schema.KindString, schema.KindAny:
		return appendText(b, v.AsString())
	default:
		return append(b, itemNull)
	}
}

// items reads items one after the other. After one that is not what was asked
// for it has failed, and returns nulls.
type items struct {
	rest   []byte
	failed bool
}

// skip passes over bytes that must come next.
func (r *items) skip(b []byte) bool {
	if r.failed || !bytes.HasPrefix(r.rest, b) {
		return false
	}
	r.rest = r.rest[len(b):]
	return true
}

func (r *items) fail() schema.Value {
	r.failed = true
	return schema.Null()
}

// item reads a value of a kind, or a null.
func (r *items) item(kind schema.Kind) schema.Value {
	major, info, n, ok := r.head()
	if !ok || r.failed {
		return r.fail()
	}
	switch {
	case major|info == itemNull:
		return schema.Null()
	case kind == schema.KindUint64 && major == majorUnsigned:
		return schema.Uint64(n)
	case kind == schema.KindInt64 && major == majorUnsigned && n <= math.MaxInt64:
		return schema.Int64(int64(n))
	case kind == schema.KindInt64 && major == majorNegative && n <= math.MaxInt64:
		return schema.Int64(^int64(n))
	case kind == schema.KindDouble && major|info == itemDouble:
		return schema.Double(math.Float64frombits(n))
	case kind == schema.KindBoolean && (major|info == itemFalse || major|info == itemTrue):
		return schema.Boolean(major|info == itemTrue)
	case (kind == schema.KindString || kind == schema.KindAny) && (major == majorText || major == majorBytes) && n <= uint64(len(r.rest)):
		return r.text(kind, int(n))
	default:
		return r.fail()
	}
}

func (r *items) text(kind schema.Kind, n int) schema.Value {
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	if kind == schema.KindAny {
		return schema.Any(s)
	}
	return schema.String(s)
}

// head reads the head of an item: its major type, the rest of its first byte,
// and the number.
func (r *items) head() (major, info byte, n uint64, ok bool) {
	if len(r.rest) == 0 {
		return 0, 0, 0, false
	}
	major, info = r.rest[0]&0xe0, r.rest[0]&0x1f
	size := 0
	if info >= 24 {
		size = 1 << (info - 24)
	}
	if info > 27 || len(r.rest) <= size {
		return 0, 0, 0, false
	}
	n = uint64(info)
	if size > 0 {
		n = 0
	}
	for _, b := range r.rest[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	r.rest = r.rest[1+size:]
	return major, info, n, true
}
