package visit

// Token names one list call. Two tokens are equal only if they were given out
// by the same Visitor for the same call.
type Token struct {
	Generation, Seq uint64
}

// List asks for the keys of a slice. It is sent to every scanned source with
// the same bounds (KV-19).
type List struct {
	// Token comes back with the answers.
	Token Token
	// Range is the slice to read, a part of the bucket with number Bucket: a
	// source that reads forward keeps one position for each bucket (KV-51).
	Range  Range
	Bucket int
	// MaxRows caps the matching rows a source returns.
	MaxRows int
	// MaxBytes caps the bytes a source returns; it stops before the key that
	// would pass it, but not before its first key. A driver may lower it, for a
	// budget shared with other buffers, before it accepts the list.
	MaxBytes int
}

// Found is one key in an answer.
type Found struct {
	Key Key
	// Rows are the source's rows of the key. They are opaque here and are handed
	// back with the visit (KV-22).
	Rows any
	// Bytes is the size of Rows.
	Bytes int
}

// Answer is what one source says about a slice.
type Answer struct {
	// Keys are the distinct keys in ascending order, all inside the slice. A
	// source that stopped at a limit includes the key it stopped in.
	Keys []Found
	// CompleteTo is the position up to which Keys are complete, nil for the
	// slice's end. Keys at or behind it are dropped.
	CompleteTo *Bound
	// Rows is the number of matching rows in Keys. An answer with as many rows as
	// List.MaxRows is complete only up to its last key, whatever CompleteTo says.
	Rows int
	// Bytes is what the source read for this answer, for the statistics.
	Bytes int
	// Names are those of Config.Names under which the source found rows.
	Names []string
	// Unreadable says that the source could not read the slice, or does not believe
	// what it read, and wants the scan to go on all the same (KV-53, KV-55). What it
	// holds of keys that it did not return is unknown, not absent.
	Unreadable bool
}

// Part is what one source holds of a visited key.
type Part struct {
	// Source is the index of the answer it came with.
	Source int
	// Rows is Found.Rows of that answer.
	Rows any
}

// Visit is one key to be handed to the process function.
type Visit struct {
	Key Key
	// Parts holds one entry per source that has the key, by ascending source. It
	// is shared and must not be changed.
	Parts []Part
	// Unknown are the sources that could not be read, by index and ascending: what
	// they hold of the key is unknown unless they are in Parts. A source that is
	// neither here nor there holds nothing of it (KV-52). It is shared and must not
	// be changed.
	Unknown []int
	// Stale says that an epoch wrote the key after the list began, so that Parts
	// must be read again before the visit is delivered (KV-22).
	Stale bool
	// System is the wall time at which the key was listed and Event the visit's
	// event time (KV-45), in unix nanoseconds. Event is never after System unless
	// the announced watermark is (KV-46).
	System, Event int64
	// Pass is the number of the pass and Final says whether it is the final one.
	Pass  uint64
	Final bool
	// List and Index identify the visit within the generation: the sequence
	// number of the list it came with, and its place there. (Generation, List,
	// Index) is never used twice, and Index grows in key order.
	List  uint64
	Index int
}

// Outcome says what became of the first visits that were offered.
type Outcome struct {
	// Delivered visits were handled, Failed ones were skipped after an error
	// (KV-27), Gone ones had no rows left at delivery (KV-28).
	Delivered, Failed, Gone int
}

// Total is the number of visits the outcome speaks of.
func (o Outcome) Total() int { return o.Delivered + o.Failed + o.Gone }
