package yson

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Encode returns the canonical YSON text of a tree: keys sorted by bytes and
// always quoted, no white space. Trees that differ only in order of keys, or
// in notation, have the same text; it parses back to an equal tree.
func Encode(n *Node) []byte { return (&encoder{}).node(nil, n, 0) }

// EncodePretty returns YSON text for readers: canonical order, one entry a
// line, indented by four blanks.
func EncodePretty(n *Node) []byte { return append((&encoder{pretty: true}).node(nil, n, 0), '\n') }

// EncodeBinary returns the tree in binary YSON, in canonical order: half the
// size, exact for every double, and what companions send each other. It parses
// back to an equal tree.
func EncodeBinary(n *Node) []byte { return (&encoder{binary: true}).node(nil, n, 0) }

type encoder struct{ pretty, binary bool }

func (e *encoder) node(dst []byte, n *Node, depth int) []byte {
	if n == nil {
		return append(dst, '#')
	}
	if len(n.Attributes) > 0 {
		dst = e.entries(dst, '<', '>', n.Attributes, depth)
		if e.pretty {
			dst = append(dst, ' ')
		}
	}
	switch n.Kind {
	case KindMap:
		return e.entries(dst, '{', '}', n.Map, depth)
	case KindList:
		return e.list(dst, n.List, depth)
	}
	if e.binary {
		return appendMarked(dst, n)
	}
	return appendScalar(dst, n)
}

func (e *encoder) key(dst []byte, key string) []byte {
	switch {
	case e.binary:
		return append(appendCounted(dst, key, math.MaxInt32), '=')
	case e.pretty:
		return append(appendQuoted(dst, key), " = "...)
	default:
		return append(appendQuoted(dst, key), '=')
	}
}

func appendScalar(dst []byte, n *Node) []byte {
	switch n.Kind {
	case KindBoolean:
		return strconv.AppendBool(append(dst, '%'), n.Bool)
	case KindInt64:
		return strconv.AppendInt(dst, n.Int, 10)
	case KindUint64:
		return append(strconv.AppendUint(dst, n.Uint, 10), 'u')
	case KindDouble:
		return appendDouble(dst, n.Double)
	case KindString:
		return appendQuoted(dst, n.Text)
	default:
		return append(dst, '#')
	}
}

// appendDouble marks the number as a double with a point where it has none.
func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "%nan"...)
	case math.IsInf(f, 1):
		return append(dst, "%inf"...)
	case math.IsInf(f, -1):
		return append(dst, "%-inf"...)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	dst = append(dst, text...)
	if !strings.ContainsAny(text, ".e") {
		dst = append(dst, '.')
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendQuoted keeps printable text, valid UTF-8 included, and escapes the
// rest byte by byte.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case r == utf8.RuneError && size == 1 || !strconv.IsPrint(r):
			for _, b := range []byte(s[i : i+size]) {
				dst = append(dst, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
			}
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}

func (e *encoder) list(dst []byte, items []*Node, depth int) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		dst = e.separate(dst, i, depth+1)
		dst = e.node(dst, item, depth+1)
	}
	return append(e.end(dst, len(items), depth), ']')
}

func (e *encoder) entries(dst []byte, open, end byte, entries []Entry, depth int) []byte {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	dst = append(dst, open)
	for i, entry := range sorted {
		dst = e.separate(dst, i, depth+1)
		dst = e.key(dst, entry.Key)
		dst = e.node(dst, entry.Value, depth+1)
	}
	return append(e.end(dst, len(sorted), depth), end)
}

// separate writes what goes before item i.
func (e *encoder) separate(dst []byte, i, depth int) []byte {
	if i > 0 {
		dst = append(dst, ';')
	}
	if e.pretty {
		dst = indent(append(dst, '\n'), depth)
	}
	return dst
}

// end writes what goes before the closing bracket of n items.
func (e *encoder) end(dst []byte, n, depth int) []byte {
	if e.pretty && n > 0 {
		dst = indent(append(dst, ";\n"...), depth)
	}
	return dst
}

func indent(dst []byte, depth int) []byte {
	for range depth {
		dst = append(dst, "    "...)
	}
	return dst
}
