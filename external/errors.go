package external

import (
	"errors"
	"fmt"
)

// ErrMalformed marks tables that are wrong in themselves: reading them again gives
// the same error.
var ErrMalformed = errors.New("malformed table")

// ErrUnfit marks tables whose columns are not what the key or the spec wants: as a rule
// the spec names another table than it means. They are malformed too.
var ErrUnfit = errors.New("table of other columns")

// ErrReplaced is that a table went, or another one took its place, while it was read.
var ErrReplaced = errors.New("the table was dropped or replaced while it was read")

// malformed is an ErrMalformed at a place in a table.
type malformed struct{ err error }

func (e *malformed) Error() string        { return e.err.Error() }
func (e *malformed) Unwrap() error        { return e.err }
func (e *malformed) Is(target error) bool { return target == ErrMalformed }

// unfit is an ErrUnfit.
type unfit struct{ err error }

func (e *unfit) Error() string        { return e.err.Error() }
func (e *unfit) Unwrap() error        { return e.err }
func (e *unfit) Is(target error) bool { return target == ErrUnfit || target == ErrMalformed }

func unfitf(format string, args ...any) error { return &unfit{fmt.Errorf(format, args...)} }

func malformedf(format string, args ...any) error { return &malformed{fmt.Errorf(format, args...)} }

// readError is that a file could not be read, which says nothing about what is in
// it.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// place is where in a table a row is: its number from 1 on, and its line if the
// table is a text.
type place struct{ row, line int64 }

func (p place) String() string {
	if p.line > 0 {
		return fmt.Sprintf("row %d (line %d)", p.row, p.line)
	}
	return fmt.Sprintf("row %d", p.row)
}
