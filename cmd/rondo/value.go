package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// valueText shows a stored value as JSON: what it means if it is CBOR, the text
// if it is text, else its bytes.
func valueText(b []byte) string {
	if text, rest, ok := appendCBOR(nil, b, 0); ok && len(rest) == 0 {
		return string(text)
	}
	if isText(b) {
		return jsonText(string(b))
	}
	return jsonBytes(b)
}

func isText(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
}

// jsonText is a text as JSON, with as few escapes as there may be.
func jsonText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string has a form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonBytes is the form of bytes that are no text.
func jsonBytes(b []byte) string { return `{"$base64":"` + base64.StdEncoding.EncodeToString(b) + `"}` }

// The major types of CBOR (RFC 8949).
const (
	cborUnsigned = iota
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
	cborTag
	cborSimple
)

const (
	// cborIndefinite is the length of items that end with a break.
	cborIndefinite = 31
	cborBreak      = 0xff
	// maxDepth is far beyond what states have.
	maxDepth = 500
)

// appendCBOR appends the first item of b as JSON and returns what follows it; it
// reports false for what is no CBOR. Integers keep all their digits, bytes are
// {"$base64": "..."}, and keys that are no text become their JSON.
func appendCBOR(dst, b []byte, depth int) (out, rest []byte, ok bool) {
	major, info, n, rest, ok := cborHead(b)
	if !ok || depth > maxDepth {
		return dst, b, false
	}
	switch major {
	case cborUnsigned:
		return strconv.AppendUint(dst, n, 10), rest, true
	case cborNegative:
		return appendNegative(dst, n), rest, true
	case cborBytes, cborText:
		text, rest, ok := cborString(major, info, n, rest)
		return appendString(dst, major, text), rest, ok
	case cborArray, cborMap:
		return appendItems(dst, major, info, n, rest, depth)
	case cborTag:
		return appendCBOR(dst, rest, depth+1)
	default:
		dst, ok := appendSimple(dst, info, n)
		return dst, rest, ok
	}
}

// cborHead reads the head of an item: its major type, the rest of the first byte,
// and the number.
func cborHead(b []byte) (major, info byte, n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, 0, 0, nil, false
	}
	major, info, rest = b[0]>>5, b[0]&31, b[1:]
	switch {
	case info < 24:
		return major, info, uint64(info), rest, true
	case info == cborIndefinite:
		return major, info, 0, rest, cborBytes <= major && major <= cborMap
	case info > 27 || len(rest) < 1<<(info-24):
		return 0, 0, 0, nil, false
	}
	size := 1 << (info - 24)
	var long [8]byte
	copy(long[8-size:], rest)
	return major, info, binary.BigEndian.Uint64(long[:]), rest[size:], true
}

// appendNegative appends -1-n, which 64 bits may not hold.
func appendNegative(dst []byte, n uint64) []byte {
	if n == math.MaxUint64 {
		return append(dst, "-18446744073709551616"...)
	}
	return strconv.AppendUint(append(dst, '-'), n+1, 10)
}

// cborString reads the bytes of a string, of all its chunks if its length is
// indefinite.
func cborString(major, info byte, n uint64, b []byte) (text, rest []byte, ok bool) {
	if info != cborIndefinite {
		if n > uint64(len(b)) {
			return nil, nil, false
		}
		return b[:n], b[n:], true
	}
	for len(b) > 0 && b[0] != cborBreak {
		m, i, n, rest, ok := cborHead(b)
		if !ok || m != major || i == cborIndefinite || n > uint64(len(rest)) {
			return nil, nil, false
		}
		text, b = append(text, rest[:n]...), rest[n:]
	}
	if len(b) == 0 {
		return nil, nil, false
	}
	return text, b[1:], true
}

// appendString appends text as such unless it is marked as text and is none.
func appendString(dst []byte, major byte, text []byte) []byte {
	if major == cborText && utf8.Valid(text) {
		return append(dst, jsonText(string(text))...)
	}
	return append(dst, jsonBytes(text)...)
}

// appendItems appends an array or map.
func appendItems(dst []byte, major, info byte, n uint64, b []byte, depth int) (out, rest []byte, ok bool) {
	brackets := "[]"
	if major == cborMap {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := uint64(0); ; i++ {
		if info == cborIndefinite && len(b) > 0 && b[0] == cborBreak {
			return append(dst, brackets[1]), b[1:], true
		}
		if info != cborIndefinite && i == n {
			return append(dst, brackets[1]), b, true
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if major == cborMap {
			if dst, b, ok = appendKey(dst, b, depth); !ok {
				return dst, b, false
			}
		}
		if dst, b, ok = appendCBOR(dst, b, depth+1); !ok {
			return dst, b, false
		}
	}
}

// appendKey appends the key of a map's entry. JSON has only texts there.
func appendKey(dst, b []byte, depth int) (out, rest []byte, ok bool) {
	key, rest, ok := appendCBOR(nil, b, depth+1)
	if ok && key[0] != '"' {
		key = []byte(jsonText(string(key)))
	}
	return append(append(dst, key...), ':'), rest, ok
}

// appendSimple appends a boolean, null or floating-point number.
func appendSimple(dst []byte, info byte, n uint64) ([]byte, bool) {
	switch info {
	case 20, 21:
		return strconv.AppendBool(dst, info == 21), true
	case 22, 23:
		return append(dst, "null"...), true
	case 25:
		return appendFloat(dst, halfFloat(uint16(n))), true
	case 26:
		return appendFloat(dst, float64(math.Float32frombits(uint32(n)))), true
	case 27:
		return appendFloat(dst, math.Float64frombits(n)), true
	default:
		return dst, false
	}
}

// halfFloat is the value of a number in 16 bits.
func halfFloat(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var f float64
	switch {
	case exponent == 31 && fraction > 0:
		f = math.NaN()
	case exponent == 31:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		return -f
	}
	return f
}

// appendFloat writes what JSON has no number for as text, as sinks do.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	default:
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
}
