package queue

import (
	"encoding/binary"
	"fmt"

	"github.com/rondo-flow/rondo/store"
)

// offset is a place in one partition of a queue. It is stored as two uvarints.
type offset struct {
	id   uint64 // of the queue
	next uint64 // the row that comes next
}

func (o offset) encode() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, o.id), o.next)
}

// decodeOffset reads an offset; nil is the beginning of the queue with the given
// id.
func decodeOffset(stored []byte, id uint64) (o offset, err error) {
	if stored == nil {
		return offset{id: id}, nil
	}
	var n, m int
	if o.id, n = binary.Uvarint(stored); n > 0 {
		o.next, m = binary.Uvarint(stored[n:])
	}
	if n <= 0 || m <= 0 || n+m != len(stored) {
		return offset{}, fmt.Errorf("%w: queue offset %x", store.ErrCorrupt, stored)
	}
	return o, nil
}
