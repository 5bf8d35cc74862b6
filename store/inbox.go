package store

import (
	"cmp"
	"context"
)

// Inbox reads the rows that wait for a partition (D-6 to D-11).
type Inbox interface {
	// ReadInbox returns rows of the target beyond the given positions, each
	// producer's rows in order of (generation, number).
	ReadInbox(ctx context.Context, r InboxRequest) (*InboxAnswer, error)
	// InboxSizes returns the rows and bytes that wait for each partition that
	// has any, ordered by partition. It is asked for at start, and now and then where other
	// processes write too (D-18).
	InboxSizes(ctx context.Context) ([]InboxSize, error)
}

// InboxKey names an inbox row. Rows of one producer are ordered by generation,
// then number; numbers start at 1 in each generation (D-7).
type InboxKey struct {
	Target PartitionID
	// Layout is the version of the producing computation's layout.
	Layout     uint64
	Producer   PartitionID
	Generation Generation
	Number     uint64
}

// Lane is the producer part of the key: rows of one lane are read in order.
func (k InboxKey) Lane() Lane { return Lane{k.Layout, k.Producer} }

// Place is the position of the row in its lane.
func (k InboxKey) Place() Place { return Place{k.Generation, k.Number} }

// Lane is one producer of one layout.
type Lane struct {
	Layout   uint64
	Producer PartitionID
}

// Compare orders lanes: older layouts first (D-8).
func (l Lane) Compare(o Lane) int {
	return cmp.Or(cmp.Compare(l.Layout, o.Layout), cmp.Compare(l.Producer, o.Producer))
}

// Place is a position in a lane. The zero Place is before every row.
type Place struct {
	Generation Generation
	Number     uint64
}

// Compare orders places.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Generation, o.Generation), cmp.Compare(p.Number, o.Number))
}

// InboxRow is a batch of messages from one epoch of a producer to one target.
type InboxRow struct {
	InboxKey
	// Previous is the number of the same generation's previous row for this
	// target, 0 for the first one (D-7).
	Previous uint64
	// Count is the number of messages in Payload; Consumed of them are already
	// consumed.
	Count, Consumed int
	// MinEvent is the smallest event timestamp in the row, unix nanoseconds.
	MinEvent int64
	// Payload is opaque to the store.
	Payload []byte
}

// InboxRequest asks for rows beyond After, at most MaxBytes of payload from
// each lane (at least one row of a lane that has any; zero means no limit).
type InboxRequest struct {
	Target PartitionID
	// After holds at most one position for a lane; a lane without one is read
	// from its front.
	After    []LanePlace
	MaxBytes int
}

// LanePlace is a read position: everything up to Place has been read.
type LanePlace struct {
	Lane  Lane
	Place Place
}

// InboxAnswer holds rows ordered by lane and place.
type InboxAnswer struct {
	Rows []InboxRow
	// End: the read reached the end of every lane, so that there is no row
	// beyond the positions asked for that is not in Rows.
	End bool
}

// InboxSize says what waits for a partition: messages that are not consumed,
// and the payload bytes of the rows that hold them.
type InboxSize struct {
	Target   PartitionID
	Messages int
	Bytes    int
}

// InboxTake removes an inbox row, or moves its consumed prefix on from From to
// To, a larger one. The commit fails whole with ErrConflict if the row is not
// there with the prefix From (D-9).
type InboxTake struct {
	Key      InboxKey
	From, To int
	// Remove is set when To is the row's count.
	Remove bool
}
