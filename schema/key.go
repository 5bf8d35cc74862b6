package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCorruptKey is in the chain of every error of [DecodeKey] and [KeyHash].
var ErrCorruptKey = errors.New("corrupt key")

// The tags of key columns (see the package comment). They are stored and
// ordered: never renumber.
const (
	keyTag     = 1 // plus the Kind
	keyEscape  = 0x00
	keyEnd     = 0x01 // after keyEscape: end of the string
	keyLiteral = 0xFF // after keyEscape: a 0x00 byte of the string
	keySign    = 1 << 63
	keyNaN     = math.MaxUint64
)

// HashKeyLen is the length of an encoded leading uint64 column.
const HashKeyLen = 9

// AppendKey appends the order-preserving form of vals to dst. The columns are
// self-delimiting, so a key may be built in several calls, and the encoding of
// the first columns is a prefix (and a lower bound) of all keys that have them.
func AppendKey(dst []byte, vals ...Value) []byte {
	for i := range vals {
		dst = appendKeyColumn(dst, &vals[i])
	}
	return dst
}

func appendKeyColumn(dst []byte, v *Value) []byte {
	dst = append(dst, keyTag+byte(v.kind))
	switch v.kind {
	case KindInt64:
		return binary.BigEndian.AppendUint64(dst, v.num^keySign)
	case KindUint64:
		return binary.BigEndian.AppendUint64(dst, v.num)
	case KindDouble:
		return binary.BigEndian.AppendUint64(dst, orderedBits(v.AsDouble()))
	case KindBoolean:
		return append(dst, byte(v.num))
	case KindString, KindAny:
		return appendKeyString(dst, v.str)
	default:
		return dst
	}
}

// AppendHash appends the encoding of a leading uint64 column, which is the
// lower bound of all keys with that hash; it equals AppendKey(dst, Uint64(hash)).
func AppendHash(dst []byte, hash uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, keyTag+byte(KindUint64)), hash)
}

// orderedBits maps doubles to integers of the same order, -0 to +0 and every
// NaN to the largest.
func orderedBits(f float64) uint64 {
	if f != f {
		return keyNaN
	}
	bits := math.Float64bits(f + 0) // -0 + 0 is +0
	if bits&keySign != 0 {
		return ^bits
	}
	return bits | keySign
}

func doubleOfOrderedBits(bits uint64) float64 {
	switch {
	case bits == keyNaN:
		return math.NaN()
	case bits&keySign != 0:
		return math.Float64frombits(bits &^ keySign)
	default:
		return math.Float64frombits(^bits)
	}
}

func appendKeyString(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, keyEscape)
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, keyEscape, keyLiteral)
		s = s[i+1:]
	}
	dst = append(dst, s...)
	return append(dst, keyEscape, keyEnd)
}

// DecodeKey returns the values of an encoded key, of any number of whole
// columns. Strings without NUL bytes are parts of key, not copies. Bytes that
// [AppendKey] does not write are an error ([ErrCorruptKey]).
func DecodeKey(key string) (Row, error) {
	var row Row
	for rest := key; rest != ""; {
		v, n := decodeKeyColumn(rest)
		if n == 0 {
			return nil, fmt.Errorf("%w: column %d of %x cannot be read", ErrCorruptKey, len(row), key)
		}
		row = append(row, v)
		rest = rest[n:]
	}
	return row, nil
}

// KeyHash returns the leading uint64 column of an encoded key.
func KeyHash(key string) (uint64, error) {
	if len(key) < HashKeyLen || key[0] != keyTag+byte(KindUint64) {
		return 0, fmt.Errorf("%w: %x does not begin with a uint64 column", ErrCorruptKey, key)
	}
	return bigEndian(key[1:]), nil
}

// decodeKeyColumn reads the column at the front of s, and its length in bytes;
// 0 if there is none.
func decodeKeyColumn(s string) (Value, int) {
	kind, body := Kind(s[0]-keyTag), s[1:]
	switch kind {
	case KindNull:
		return Null(), 1
	case KindInt64, KindUint64, KindDouble:
		if len(body) < 8 {
			return Value{}, 0
		}
		return keyNumber(kind, bigEndian(body))
	case KindBoolean:
		if body == "" || body[0] > 1 {
			return Value{}, 0
		}
		return Boolean(body[0] == 1), 2
	case KindString, KindAny:
		text, n := decodeKeyString(body)
		if n == 0 {
			return Value{}, 0
		}
		return Value{kind: kind, str: text}, 1 + n
	default:
		return Value{}, 0
	}
}

func keyNumber(kind Kind, bits uint64) (Value, int) {
	switch kind {
	case KindInt64:
		return Int64(int64(bits ^ keySign)), HashKeyLen
	case KindUint64:
		return Uint64(bits), HashKeyLen
	default:
		v := Double(doubleOfOrderedBits(bits))
		if orderedBits(v.AsDouble()) != bits {
			return Value{}, 0
		}
		return v, HashKeyLen
	}
}

// decodeKeyString returns the string at the front of s and the length of its
// encoding, 0 if it does not end.
func decodeKeyString(s string) (string, int) {
	var escaped []byte // set once there is a NUL to put back
	for from := 0; ; {
		i := strings.IndexByte(s[from:], keyEscape)
		if i < 0 || from+i+1 >= len(s) {
			return "", 0
		}
		at := from + i
		switch s[at+1] {
		case keyEnd:
			if escaped == nil {
				return s[:at], at + 2
			}
			return string(append(escaped, s[from:at]...)), at + 2
		case keyLiteral:
			escaped = append(append(escaped, s[from:at]...), keyEscape)
			from = at + 2
		default:
			return "", 0
		}
	}
}

// bigEndian is binary.BigEndian.Uint64 for strings.
func bigEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
		uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
}
