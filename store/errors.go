package store

import (
	"errors"
	"fmt"
)

// The classes of store errors. Implementations wrap them; callers ask with
// errors.Is and do what the class says. An error without a class is a defect of
// the caller, and nothing was changed.
var (
	// ErrUnavailable: the store cannot be reached, is closed or is out of room.
	// Retry later; for a commit it also means that nothing was changed.
	ErrUnavailable = errors.New("store unavailable")
	// ErrStopped: the store's disk has failed, and every call fails from now on.
	// Nothing heals it but opening it again, once the cause is gone. It is
	// ErrUnavailable too, or ErrCorrupt.
	ErrStopped = errors.New("the store has stopped")
	// ErrUnknownOutcome: the commit was sent, and whether it took effect is not
	// known. Never repeat it: restart the job and read what is true (D-3).
	ErrUnknownOutcome = errors.New("commit outcome unknown")
	// ErrFenced: the generation is not current. The job has lost its partition
	// and stops (D-2).
	ErrFenced = errors.New("fenced: the partition has a newer owner")
	// ErrConflict: what the commit relied on has moved: an inbox row (D-9), a
	// routing version (D-12), a record's version. Read again, decide again.
	ErrConflict = errors.New("conflict")
	// ErrRowChanged is the ErrConflict of a row of a table that somebody else has changed,
	// made or removed since it was read (KV-22).
	ErrRowChanged = fmt.Errorf("%w: a row is not as it was read", ErrConflict)
	// ErrNoQueue: there is no queue, or partition of it, with that name. A commit
	// that appends to one changes nothing.
	ErrNoQueue = errors.New("no such queue")
	// ErrNoTable: there is no table with that id. A commit that writes to one changes
	// nothing.
	ErrNoTable = errors.New("no such table")
	// ErrCorrupt: stored bytes are not what was written. Stop, loudly.
	ErrCorrupt = errors.New("store corrupt")
	// ErrLocked: another process holds the store; the message says which.
	ErrLocked = errors.New("store is in use")
	// ErrNewerFormat: a newer Rondo wrote the store. Use that one.
	ErrNewerFormat = errors.New("store has a newer format")
)
