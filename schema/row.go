package schema

import (
	"slices"
	"strings"
)

// Row is the values of one row, in the order of its schema's columns.
type Row []Value

// String prints the row as [1, "a", null].
func (r Row) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range r {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.String())
	}
	b.WriteByte(']')
	return b.String()
}

// CompareRows orders rows column by column; a row that is a prefix of another
// comes first. It is the order of [AppendKey] bytes.
func CompareRows(a, b Row) int { return slices.CompareFunc(a, b, Compare) }
