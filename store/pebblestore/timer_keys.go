package pebblestore

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/rondo-flow/rondo/store"
)

// timerRowMax is what a timer's row has beside its key and stream, at most.
const timerRowMax = 1 + binary.MaxVarintLen64 + 2 + 8 + 1 + binary.MaxVarintLen64 + 16

// Triggers are signed, and their rows lie in order of them.
func appendTrigger(dst []byte, trigger int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(trigger)^1<<63)
}

func triggerOf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

// appendTimerKey makes a timer's row in its slot. Encoded keys are never prefixes
// of each other, so rows lie in order of trigger, then key, then stream.
func appendTimerKey(dst, prefix []byte, t store.TimerID) []byte {
	dst = appendTimerPlace(dst, prefix, store.TimerSlot(t.Key), t.Place())
	return append(append(dst, 0), t.Stream...)
}

// appendTimerPlace makes the bound that rows of a slot at or beyond a place have.
func appendTimerPlace(dst, prefix []byte, slot int, p store.TimerPlace) []byte {
	dst = binary.BigEndian.AppendUint16(append(dst, prefix...), uint16(slot))
	return append(appendTrigger(dst, p.Trigger), p.Key...)
}

// timerRow is a row of a slot, taken apart without a copy.
type timerRow struct {
	slot        int
	trigger     int64
	key, stream []byte
}

func (r timerRow) compare(p store.TimerPlace) int {
	return cmp.Or(cmp.Compare(r.trigger, p.Trigger), cmp.Compare(string(r.key), p.Key))
}

// timerRowOf takes apart what follows the prefix. Streams have no zero byte, the
// encoded keys may.
func timerRowOf(row []byte) (timerRow, error) {
	i := bytes.LastIndexByte(row, 0)
	if i < 10 {
		return timerRow{}, corrupt("timer key %x is too short", row)
	}
	return timerRow{int(binary.BigEndian.Uint16(row)), triggerOf(row[2:]), row[10:i], row[i+1:]}, nil
}

// appendKeyTimer makes the row that finds a key's timer.
func appendKeyTimer(dst, prefix []byte, t store.TimerID) []byte {
	dst = append(append(dst, prefix...), t.Key...)
	return append(appendTrigger(dst, t.Trigger), t.Stream...)
}
