package pebblestore

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rondo-flow/rondo/store"
)

// The first byte of a key says what its row is. Bytes compare as numbers and
// texts do: numbers are big-endian and of fixed length.
const (
	// kindCounter: name → last number given out.
	kindCounter = 'c'
	// kindPipeline → the pipeline; one row.
	kindPipeline = 'm'
	// kindComputation: name → number of the computation.
	kindComputation = 'n'
	// kindPartition, kindReport, kindOffset, kindPosition, kindTotals:
	// partition → value.
	kindPartition = 'p'
	kindReport    = 'r'
	kindOffset    = 'o'
	kindPosition  = 'w'
	kindTotals    = 't'
	// kindVisitor: partition, stream, slot → value.
	kindVisitor = 'v'
	// kindInbox: target, layout, producer, generation, number, part → see part.
	kindInbox = 'i'
	// kindState: computation, key, 0, name → value.
	kindState = 's'
	// kindTimer: computation, slot, trigger, key, 0, stream → event timestamp.
	kindTimer = 'd'
	// kindKeyTimer: computation, key, trigger, stream → nothing.
	kindKeyTimer = 'k'
	// kindQueue: see the parts of queues.
	kindQueue = 'q'
	// kindTable: see the parts of tables.
	kindTable = 'u'
)

// The parts of an inbox row. The row itself is written once and removed once;
// the consumed prefix beside it may be written again.
const (
	partRow      = 0
	partConsumed = 1
)

const (
	counterPartition  = "partition"
	counterGeneration = "generation"
	counterQueue      = "queue"
	counterTable      = "table"
)

func nameKey(kind byte, name string) []byte { return append([]byte{kind}, name...) }

func partitionKey(kind byte, id store.PartitionID) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(id))
}

// partitionOf returns the partition of a key made by partitionKey.
func partitionOf(key []byte) (store.PartitionID, error) {
	if len(key) != 9 {
		return 0, corrupt("key %x has no partition", key)
	}
	return store.PartitionID(binary.BigEndian.Uint64(key[1:])), nil
}

// upperBound returns the end of the keys that begin with prefix. Every prefix
// begins with a kind, which is below 0xFF, so that there is an end.
func upperBound(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}

// The slot is stored with an offset, so that it is never negative.
func visitorKey(id store.PartitionID, stream string, slot int) []byte {
	key := append(partitionKey(kindVisitor, id), stream...)
	return binary.BigEndian.AppendUint32(key, uint32(slot-store.SlotSummaries))
}

func visitorOf(key []byte) (stream string, slot int, err error) {
	if len(key) < 9+4 {
		return "", 0, corrupt("visitor key %x is too short", key)
	}
	end := len(key) - 4
	return string(key[9:end]), int(binary.BigEndian.Uint32(key[end:])) + store.SlotSummaries, nil
}

const inboxKeyLen = 1 + 5*8 + 1

func appendInboxKey(dst []byte, k *store.InboxKey, part byte) []byte {
	dst = appendLane(dst, k.Target, k.Lane())
	dst = binary.BigEndian.AppendUint64(dst, uint64(k.Generation))
	dst = binary.BigEndian.AppendUint64(dst, k.Number)
	return append(dst, part)
}

func appendLane(dst []byte, target store.PartitionID, l store.Lane) []byte {
	dst = append(dst, kindInbox)
	dst = binary.BigEndian.AppendUint64(dst, uint64(target))
	dst = binary.BigEndian.AppendUint64(dst, l.Layout)
	return binary.BigEndian.AppendUint64(dst, uint64(l.Producer))
}

func inboxKeyOf(key []byte) (k store.InboxKey, part byte, err error) {
	if len(key) != inboxKeyLen {
		return k, 0, corrupt("inbox key %x has %d bytes", key, len(key))
	}
	n := func(i int) uint64 { return binary.BigEndian.Uint64(key[1+8*i:]) }
	k = store.InboxKey{
		Target: store.PartitionID(n(0)), Layout: n(1), Producer: store.PartitionID(n(2)),
		Generation: store.Generation(n(3)), Number: n(4),
	}
	return k, key[inboxKeyLen-1], nil
}

// statePrefix begins every state key of a computation. Uvarints are never
// prefixes of each other.
func statePrefix(computation uint64) []byte {
	return computationPrefix(kindState, computation)
}

func computationPrefix(kind byte, computation uint64) []byte {
	return binary.AppendUvarint([]byte{kind}, computation)
}

// splitState separates the encoded key and the name of a state row. The names
// have no zero byte, the encoded keys may.
func splitState(row []byte) (key, name []byte, err error) {
	i := bytes.LastIndexByte(row, 0)
	if i < 0 {
		return nil, nil, corrupt("state key %x has no name", row)
	}
	return row[:i], row[i+1:], nil
}

// corrupt says that stored bytes are not what this package writes.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", store.ErrCorrupt, fmt.Sprintf(format, args...))
}
