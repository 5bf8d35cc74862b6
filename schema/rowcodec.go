package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrCorruptRow is in the chain of every error of [DecodeRow].
var ErrCorruptRow = errors.New("corrupt row")

// The tag of a column in a row. They are stored: never renumber.
const (
	rowNull byte = iota
	rowInt64
	rowUint64
	rowDouble
	rowFalse
	rowTrue
	rowString
	rowAny
)

// AppendRow appends the compact binary form of row to dst:
//
//	uvarint number of columns
//	uvarint length of all string bytes, then those bytes
//	per column a tag byte, then
//	    int64: zigzag varint; uint64: uvarint; double: 8 bytes little endian;
//	    string, any: uvarint length of its share of the string bytes
//
// The string bytes lie together so that [DecodeRow] copies them once.
func AppendRow(dst []byte, row Row) []byte {
	blob := 0
	for i := range row {
		blob += len(row[i].str)
	}
	dst = binary.AppendUvarint(dst, uint64(len(row)))
	dst = binary.AppendUvarint(dst, uint64(blob))
	for i := range row {
		dst = append(dst, row[i].str...)
	}
	for i := range row {
		dst = appendColumn(dst, &row[i])
	}
	return dst
}

func appendColumn(dst []byte, v *Value) []byte {
	switch v.kind {
	case KindInt64:
		return binary.AppendVarint(append(dst, rowInt64), int64(v.num))
	case KindUint64:
		return binary.AppendUvarint(append(dst, rowUint64), v.num)
	case KindDouble:
		return binary.LittleEndian.AppendUint64(append(dst, rowDouble), v.num)
	case KindBoolean:
		return append(dst, rowFalse+byte(v.num))
	case KindString:
		return binary.AppendUvarint(append(dst, rowString), uint64(len(v.str)))
	case KindAny:
		return binary.AppendUvarint(append(dst, rowAny), uint64(len(v.str)))
	default:
		return append(dst, rowNull)
	}
}

// DecodeRow reads one row written by [AppendRow] from the front of src into
// dst, whose capacity is reused and whose content is overwritten, and returns
// it with what is left of src. The row does not refer to src: its strings are
// parts of one copy, so keeping one keeps all of that row's. Any input is
// safe; one that AppendRow did not write is an error (ErrCorruptRow), and then
// the returned row is empty.
func DecodeRow(src []byte, dst Row) (Row, []byte, error) {
	dst = dst[:0]
	columns, n := binary.Uvarint(src)
	if n <= 0 {
		return dst, src, corruptRow("column count")
	}
	rest := src[n:]
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > uint64(len(rest)-n) {
		return dst, src, corruptRow("string length")
	}
	blob := string(rest[n : n+int(size)])
	rest = rest[n+int(size):]
	// Each column takes a byte at least, which bounds the row before it is made.
	if columns > uint64(len(rest)) {
		return dst, src, corruptRow("column count")
	}
	if uint64(cap(dst)) < columns {
		dst = make(Row, 0, columns)
	}
	dst = dst[:columns]
	for i := range dst {
		if n = decodeColumn(rest, &blob, &dst[i]); n <= 0 {
			return dst[:0], src, corruptRow(fmt.Sprintf("column %d", i))
		}
		rest = rest[n:]
	}
	if blob != "" {
		return dst[:0], src, corruptRow("unused string bytes")
	}
	return dst, rest, nil
}

// decodeColumn reads one column from the front of src and cuts its string off
// blob. It returns the bytes read, 0 or less if they make no sense.
func decodeColumn(src []byte, blob *string, v *Value) int {
	if len(src) == 0 {
		return 0
	}
	*v = Value{}
	tag, src := src[0], src[1:]
	n := 0
	switch tag {
	case rowNull:
	case rowFalse, rowTrue:
		v.kind, v.num = KindBoolean, uint64(tag-rowFalse)
	case rowInt64:
		var i int64
		i, n = binary.Varint(src)
		v.kind, v.num = KindInt64, uint64(i)
		if n <= 0 {
			return 0
		}
	case rowUint64:
		v.kind = KindUint64
		if v.num, n = binary.Uvarint(src); n <= 0 {
			return 0
		}
	case rowDouble:
		if len(src) < 8 {
			return 0
		}
		v.kind, v.num, n = KindDouble, binary.LittleEndian.Uint64(src), 8
	case rowString, rowAny:
		var size uint64
		size, n = binary.Uvarint(src)
		if n <= 0 || size > uint64(len(*blob)) {
			return 0
		}
		v.kind, v.str = KindString+Kind(tag-rowString), (*blob)[:size]
		*blob = (*blob)[size:]
	default:
		return 0
	}
	return n + 1
}

func corruptRow(what string) error {
	return fmt.Errorf("%w: bad %s", ErrCorruptRow, what)
}

// float32Range reports whether f survives as a float, infinities included.
func float32Range(f float64) bool {
	return math.IsInf(f, 0) || f != f || math.Abs(f) <= math.MaxFloat32
}
