package visit

import (
	"cmp"
	"strconv"
	"strings"
)

// Key is a key of the computation's state. Keys are ordered by Hash, then by
// Bytes.
type Key struct {
	// Hash is the value of the first group-by column, by which ranges are cut.
	Hash uint64
	// Bytes is the whole key in its order-preserving encoding. The machine never
	// looks into it; it is not empty for a real key.
	Bytes string
}

// Compare returns -1, 0 or 1 as k is before, equal to or after o.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.Hash, o.Hash); c != 0 {
		return c
	}
	return strings.Compare(k.Bytes, o.Bytes)
}

// String prints the key as hash:bytes, quoting bytes that are not plain text.
func (k Key) String() string {
	h := strconv.FormatUint(k.Hash, 10)
	if k.Bytes == "" {
		return h
	}
	if strings.IndexFunc(k.Bytes, notPlain) >= 0 {
		return h + ":" + strconv.Quote(k.Bytes)
	}
	return h + ":" + k.Bytes
}

// notPlain says whether a rune of a key's bytes needs quoting in print.
func notPlain(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`,()[]"`, r)
}

// Bound is a position between keys: a range that begins at it includes its key,
// a range that ends at it excludes it.
type Bound struct {
	// Key is the first key behind the position; with empty Bytes it stands before
	// every key of its hash.
	Key Key
	// End marks the open end of the hash space, behind every key.
	End bool
}

// At returns the position just before key.
func At(key Key) Bound { return Bound{Key: key} }

// AtHash returns the position before the first key of a hash.
func AtHash(hash uint64) Bound { return Bound{Key: Key{Hash: hash}} }

// Compare returns -1, 0 or 1 as b is before, equal to or after o.
func (b Bound) Compare(o Bound) int {
	switch {
	case b.End && o.End:
		return 0
	case b.End:
		return 1
	case o.End:
		return -1
	}
	return b.Key.Compare(o.Key)
}

// String prints the bound as hash, hash:bytes or +inf.
func (b Bound) String() string {
	if b.End {
		return "+inf"
	}
	return b.Key.String()
}

// atOrBefore says whether key lies behind the position or directly at it.
func (b Bound) atOrBefore(key Key) bool {
	return !b.End && b.Key.Compare(key) <= 0
}

// position returns the bound's place on the hash axis; the open end counts as
// the largest hash, so that lengths fit in 64 bits.
func (b Bound) position() uint64 {
	if b.End {
		return maxHash
	}
	return b.Key.Hash
}
