package pgstore

import (
	"cmp"

	"github.com/rondo-flow/rondo/store"
)

func compareWrites(a, b store.StateWrite) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Name, b.Name))
}

func compareVisitors(a, b store.VisitorRow) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Slot, b.Slot))
}

func comparePositions(a, b store.QueuePosition) int {
	return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Partition, b.Partition))
}

func compareLanePlaces(a, b store.LanePlace) int { return a.Lane.Compare(b.Lane) }
