package flow

import (
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/schema"
)

// Presence says what is known of a key in a joined table (KV-52).
type Presence uint8

// What may be known. An outage is never an absence.
const (
	Unknown Presence = iota // the table could not be read there
	Absent                  // it was read, and has no such row
	Present                 // it has one
)

// String returns the word.
func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Absent:
		return "absent"
	default:
		return "unknown"
	}
}

// Joined is what a joined table has of a visited key. The zero value is unknown.
type Joined struct {
	presence Presence
	row      Payload
}

// PresentRow is the answer that there is a row; it is for those who make a
// [Runtime], as is [AbsentRow].
func PresentRow(row Payload) Joined { return Joined{Present, row} }

// AbsentRow is the answer that there is no row.
func AbsentRow() Joined { return Joined{presence: Absent} }

// Presence tells which answer it is.
func (j Joined) Presence() Presence { return j.presence }

// Known tells whether the table could be read.
func (j Joined) Known() bool { return j.presence != Unknown }

// Tables is what a [Runtime] knows of tables.
type Tables interface {
	// Joined is what a joined table has of an input of the call; use OpenJoined.
	Joined(name string, of Keyed) (Joined, error)
	// External is the raw access to the row that an external state has under a key of
	// the call, and its form; use OpenExternal.
	External(name string, key Key) (*Cell, *schema.Table, error)
}

// ErrUnknown is in the chain of the error of a row that is unknown.
var ErrUnknown = errors.New("the row is unknown: the table could not be read there, so it must not be taken for absent; ask Known first")

// Row returns the row, which must not be changed, and false when there is none. Of
// a key that is unknown it is an error ([ErrUnknown]).
func (j Joined) Row() (row Payload, present bool, err error) {
	if j.presence == Unknown {
		return Payload{}, false, ErrUnknown
	}
	return j.row, j.presence == Present, nil
}

// OpenJoined returns what the joined table with that name has of an input's key. For a
// static table the input is a visit, by a stream that scans the table
// (external_names). In a table of the store, messages, timers and visits look up their
// key, or the one that join_on makes of it; that answer is never unknown.
func OpenJoined(rt Runtime, name string, of Keyed) (Joined, error) {
	j, err := rt.Joined(name, of)
	if err != nil {
		return Joined{}, fmt.Errorf("joined table %s: %w", name, err)
	}
	return j, nil
}
