package store

import "context"

// States reads the internal states of computations. A state is one row: an
// opaque, non-empty value under (computation, key, name). A name is not empty
// and has no zero byte. A computation that the store does not know has no rows.
type States interface {
	// GetStates returns, for each key in the order given, all its rows ordered
	// by name; a key without rows has none. Duplicate keys are allowed.
	GetStates(ctx context.Context, computation string, keys []string) ([][]StateRow, error)
	// ListStates reads a range of keys in order, as far as the limits allow.
	ListStates(ctx context.Context, r ListRequest) (*ListAnswer, error)
}

// StateRow is one named state of a key. Value is never empty: an empty value is
// the absence of the row. The bytes must not be changed.
type StateRow struct {
	Name  string
	Value []byte
}

// ListRequest asks for the keys in [Lower, Upper).
type ListRequest struct {
	Computation string
	// Lower is inclusive, Upper exclusive; an empty Lower is the lowest key and
	// an empty Upper is open.
	Lower, Upper string
	// Names restricts which rows count; empty means all (KV-1).
	Names []string
	// MaxRows limits the rows returned; it may cut a key (see ListAnswer), and
	// one that has as many rows alone stalls the list (KV-21).
	// MaxBytes limits their bytes and never cuts a key: the first key is
	// returned whatever its size, a later one only if it fits whole.
	// MaxWork limits the rows and tombstones passed over, returned or not; the
	// answer gets beyond at least one key. Zero means no limit.
	MaxRows, MaxBytes, MaxWork int
	// KeysOnly leaves the values out, and their sizes. It is for rows of tables.
	KeysOnly bool
}

// ListAnswer holds the keys found, in order, and how far the answer is
// complete (KV-19).
type ListAnswer struct {
	Keys []ListedKey
	// Complete: every matching key of the request is in Keys. Otherwise every
	// matching key below CompleteTo is, with all its rows, and nothing is known
	// of the rest. Keys at or beyond CompleteTo are not part of the answer's
	// covered range and may lack rows.
	//
	// An answer with Rows == MaxRows is never Complete: its CompleteTo is its
	// last key, whatever follows. One cut by MaxBytes or MaxWork has no keys at
	// or beyond CompleteTo, which is above the first key passed.
	Complete   bool
	CompleteTo string
	// Rows and Bytes count what is returned.
	Rows, Bytes int
}

// ListedKey is a key with its matching rows, ordered by name. Bytes counts the
// key, names and values.
type ListedKey struct {
	Key   string
	Rows  []StateRow
	Bytes int
}

// StateWrite sets one state, or deletes it when Value is empty. The store does
// not keep Value. Writes in order of their keys are cheaper than others.
type StateWrite struct {
	Key   string
	Name  string
	Value []byte
}
