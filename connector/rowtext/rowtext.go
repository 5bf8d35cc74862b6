package rowtext

import (
	"fmt"

	"github.com/rondo-flow/rondo/schema"
)

// Decoder finds rows in a text and reads them. It serves one text at a time and
// one goroutine.
type Decoder interface {
	// Scan looks for the end of a row. text begins where the row does or, when
	// the call before found no end, where the text of that call ended. It returns
	// how much of text belongs to the row, its line end included, or -1 if the
	// row goes on behind text.
	Scan(text string) int
	// GiveUp forgets a row whose end Scan has not found: the next Scan begins with
	// a row. It reports whether what Scan has seen of it ends inside quotes.
	GiveUp() bool
	// Decode reads a row as Scan delimited it, or the last of a text, which may
	// lack a line end. row is all nulls before; its values may be parts of text.
	// It reports false for what is no row: a blank line, a header. Errors are
	// *[Error].
	Decode(text string, row schema.Row) (bool, error)
	// Restart tells that another text follows, from its beginning.
	Restart()
	// Ready reports whether rows can be decoded: not while a header is awaited.
	Ready() bool
}

// Encoder writes the rows of one schema.
type Encoder interface {
	// AppendHeader appends what stands before the first row of a text.
	AppendHeader(dst []byte) []byte
	// AppendRow appends a row, with its line end. It is an error if the row is
	// not of the schema.
	AppendRow(dst []byte, row schema.Row) ([]byte, error)
}

// Error is a fault in a row.
type Error struct {
	// Offset is where in the row's text it is, in bytes.
	Offset int
	Err    error
	// Header tells that the fault is in what stands before the rows, so that
	// none of them can be read.
	Header bool
	// Quotes tells that the fault is one of quotes, so that only the first line
	// of the text is certain to be the row's.
	Quotes bool
}

// Error returns the place and the fault.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset+1, e.Err) }

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }
