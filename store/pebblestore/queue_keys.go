package pebblestore

import (
	"encoding/binary"
	"fmt"

	"github.com/rondo-flow/rondo/store"
)

// The second byte of a queue key, in the order in which they are read when the
// store is opened. Rows come last, so that they are not read over.
const (
	// queueNames: name → id, number of partitions.
	queueNames = 'a'
	// queueHeads: id, partition → head. There is none before the first row.
	queueHeads = 'b'
	// queuePositions: id, partition, consumer → offset.
	queuePositions = 'c'
	// queueRows: id, partition, offset → row.
	queueRows = 'd'
)

func queueKey(name string) []byte { return append([]byte{kindQueue, queueNames}, name...) }

func queuePrefix(part byte, id uint64) []byte { return appendQueuePrefix(nil, part, id) }

func appendQueuePrefix(dst []byte, part byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kindQueue, part), id)
}

const (
	queuePlaceLen  = 2 + 8 + 4
	queueRowKeyLen = queuePlaceLen + 8
)

func appendQueuePlace(dst []byte, part byte, id uint64, partition int) []byte {
	return binary.BigEndian.AppendUint32(appendQueuePrefix(dst, part, id), uint32(partition))
}

func queueHeadKey(id uint64, partition int) []byte {
	return appendQueuePlace(nil, queueHeads, id, partition)
}

func queuePositionKey(id uint64, consumer string, partition int) []byte {
	return append(appendQueuePlace(nil, queuePositions, id, partition), consumer...)
}

func queueRowKey(id uint64, partition int, offset uint64) []byte {
	return appendQueueRowKey(nil, id, partition, offset)
}

func appendQueueRowKey(dst []byte, id uint64, partition int, offset uint64) []byte {
	return binary.BigEndian.AppendUint64(appendQueuePlace(dst, queueRows, id, partition), offset)
}

// queuePlaceOf reads the key of a head or position.
func queuePlaceOf(key []byte) (id uint64, partition int, consumer string, err error) {
	if len(key) < queuePlaceLen {
		return 0, 0, "", corrupt("queue key %x is too short", key)
	}
	id = binary.BigEndian.Uint64(key[2:])
	return id, int(binary.BigEndian.Uint32(key[2+8:])), string(key[queuePlaceLen:]), nil
}

func queueOffsetOf(key []byte) (uint64, error) {
	if len(key) != queueRowKeyLen {
		return 0, corrupt("queue row key %x has %d bytes", key, len(key))
	}
	return binary.BigEndian.Uint64(key[queuePlaceLen:]), nil
}

func appendQueueHead(dst []byte, h *queueHead) []byte {
	for _, n := range []uint64{h.first, h.next, h.firstBytes, h.nextBytes} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func decodeQueueHead(value []byte) (queueHead, error) {
	f := fields{rest: value}
	h := queueHead{first: f.uint(), next: f.uint(), firstBytes: f.uint(), nextBytes: f.uint()}
	return h, f.end("head of a queue")
}

// A row's value is its header and then its own value. The header has the bytes of
// all values ever appended before it, so that trimming knows, from the first row
// that it keeps, how much it removes.
const queueRowHeaderMax = 2 * binary.MaxVarintLen64

func appendQueueRowHeader(dst []byte, time int64, bytesBefore uint64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(dst, time), bytesBefore)
}

// decodeQueueRow does not copy the value.
func decodeQueueRow(stored []byte) (time int64, bytesBefore uint64, value []byte, err error) {
	f := fields{rest: stored}
	time, bytesBefore = f.int(), f.uint()
	if f.bad {
		return 0, 0, nil, corrupt("a stored queue row cannot be decoded")
	}
	return time, bytesBefore, f.rest, nil
}

func (q *queue) checkPartitions(want int) error {
	if n := len(q.partitions); n != want {
		return fmt.Errorf("queue %q has %d partitions, not %d: %w", q.name, n, want, store.ErrConflict)
	}
	return nil
}
