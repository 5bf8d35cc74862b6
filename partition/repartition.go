package partition

import (
	"fmt"

	"github.com/rondo-flow/rondo/store"
)

// Verdict is what becomes of the wish for another number of partitions.
type Verdict uint8

// The verdicts of KV-15.
const (
	// Go: the partitions may be replaced now.
	Go Verdict = iota
	// Wait: a final pass is under way; ask again when partitions complete.
	Wait
	// Drop: all is completed and stays so; the wish is void.
	Drop
	// Refuse: a consumer is Completed and would not read what comes.
	Refuse
)

// Standing is how far a computation has come with completing, as far as its
// repartition depends on it.
type Standing struct {
	Computation string
	// Partitions counts the partitions, Completed those that are Completed, and
	// Final those that are not and have a visit stream in its final pass (see
	// visit.Stored.Final).
	Partitions, Completed, Final int
	// Finite says that every visit stream is finite, as of a computation without
	// one.
	Finite bool
	// CompletedConsumer is a computation that reads an output and has a Completed
	// partition, empty if there is none.
	CompletedConsumer string
}

// Judge decides whether the partitions of a computation may be replaced (KV-15),
// and says why not. It is asked again inside the transaction that replaces them
// (D-13).
//
// A final pass that has begun cannot be taken back, so it is waited for even if
// finite has become false since; Completed partitions beside ordinary passes do
// not hold back a computation that is not finite, because those never complete.
func (s Standing) Judge() (Verdict, string) {
	all := s.Completed == s.Partitions
	switch {
	case s.Final > 0 || s.Finite && s.Completed > 0 && !all:
		return Wait, fmt.Sprintf("the repartition of %s waits until its final passes are over: %d of %d partitions are in theirs, %d have completed",
			s.Computation, s.Final, s.Partitions, s.Completed)
	case s.Completed == 0:
		return Go, ""
	case s.Finite:
		return Drop, fmt.Sprintf("%s has completed and stays so: set finite=%%false for a visit stream of it before you repartition it", s.Computation)
	case s.CompletedConsumer != "":
		return Refuse, fmt.Sprintf("%s cannot start again, because %s, which reads its output, is Completed", s.Computation, s.CompletedConsumer)
	}
	return Go, ""
}

// Inherit is what a partition begins with telling of an output stream, from what those
// told that it replaces in part or whole (D-13): the least watermark, where those that
// have finished the stream do not count, so that it never goes back (D-15, D-17); the
// largest event; and finished only if all are.
func Inherit(stream string, said []store.StreamReport) store.StreamReport {
	out := store.StreamReport{Stream: stream, Watermark: store.NoTime, MaxEvent: store.NoTime, State: store.Finished}
	least := endOfTime
	for _, s := range said {
		out.Watermark, out.MaxEvent = max(out.Watermark, s.Watermark), max(out.MaxEvent, s.MaxEvent)
		if out.State = min(out.State, s.State); s.State != store.Finished {
			least = min(least, s.Watermark)
		}
	}
	if out.State != store.Finished {
		out.Watermark = least
	}
	return out
}
