package yson

import (
	"encoding/binary"
	"math"
)

// The marks that binary scalars begin with. Maps, lists, attributes and
// entities have the brackets and separators of text.
const (
	markString byte = iota + 1 // zigzag varint length of 32 bits, then the bytes
	markInt64                  // zigzag varint
	markDouble                 // 8 bytes, little endian
	markFalse
	markTrue
	markUint64 // varint
)

// marks is all of them: bytes that text has at most inside of quotes.
const marks = "\x01\x02\x03\x04\x05\x06"

func isMark(c byte) bool { return c >= markString && c <= markUint64 }

// marked reads the binary scalar at a mark.
func (p *textParser) marked(n *Node) (err error) {
	mark := p.data[p.pos]
	p.pos++
	switch mark {
	case markString:
		n.Kind = KindString
		n.Text, err = p.counted()
	case markInt64:
		n.Kind = KindInt64
		n.Int, err = p.zigzag(64)
	case markDouble:
		n.Kind = KindDouble
		n.Double, err = p.double()
	case markFalse, markTrue:
		n.Kind, n.Bool = KindBoolean, mark == markTrue
	case markUint64:
		n.Kind = KindUint64
		n.Uint, err = p.varint(64)
	}
	return err
}

// varint reads an integer of at most that many bits.
func (p *textParser) varint(bits int) (uint64, error) {
	v, n := binary.Uvarint(p.data[p.pos:])
	switch {
	case n == 0:
		return 0, p.fail("the data ends inside this number")
	case n < 0 || v>>(bits-1)>>1 != 0:
		return 0, p.fail("this number does not fit in %d bits", bits)
	}
	p.pos += n
	return v, nil
}

// zigzag reads a signed integer: 0, -1, 1, -2, … are written as 0, 1, 2, 3, ….
func (p *textParser) zigzag(bits int) (int64, error) {
	v, err := p.varint(bits)
	return int64(v>>1) ^ -int64(v&1), err
}

func (p *textParser) double() (float64, error) {
	if rest := len(p.data) - p.pos; rest < 8 {
		return 0, p.fail("a double has 8 bytes, only %d are left", rest)
	}
	bits := binary.LittleEndian.Uint64(p.data[p.pos:])
	p.pos += 8
	return math.Float64frombits(bits), nil
}

// counted reads a string with its length in front. Nothing is allocated for a
// length that the data does not bear out.
func (p *textParser) counted() (string, error) {
	at := p.at()
	size, err := p.zigzag(32)
	if err != nil {
		return "", err
	}
	if rest := len(p.data) - p.pos; size < 0 || size > int64(rest) {
		return "", p.failAt(at, "this string should have %d bytes, %d are left", size, rest)
	}
	text := string(p.data[p.pos : p.pos+int(size)])
	p.pos += int(size)
	return text, nil
}

// appendMarked is appendScalar in binary.
func appendMarked(dst []byte, n *Node) []byte {
	switch n.Kind {
	case KindBoolean:
		if n.Bool {
			return append(dst, markTrue)
		}
		return append(dst, markFalse)
	case KindInt64:
		return binary.AppendVarint(append(dst, markInt64), n.Int)
	case KindUint64:
		return binary.AppendUvarint(append(dst, markUint64), n.Uint)
	case KindDouble:
		return binary.LittleEndian.AppendUint64(append(dst, markDouble), math.Float64bits(n.Double))
	case KindString:
		return appendCounted(dst, n.Text, math.MaxInt32)
	default:
		return append(dst, '#')
	}
}

// appendCounted writes a string with its length in front, one longer than limit
// in quotes: the length has 32 bits, and readers take text and binary mixed.
func appendCounted(dst []byte, s string, limit int) []byte {
	if len(s) > limit {
		return appendQuoted(dst, s)
	}
	return append(binary.AppendVarint(append(dst, markString), int64(len(s))), s...)
}
