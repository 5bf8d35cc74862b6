package store

// Commit is one epoch of one partition: everything in it becomes durable
// together or not at all. The store keeps nothing of it.
type Commit struct {
	Partition  PartitionID
	Generation Generation
	// Computation is the partition's.
	Computation string
	// Routing holds the layout versions that the epoch's rows were routed by;
	// a different stored one is ErrConflict (D-12).
	Routing []Route
	// States are applied in order.
	States []StateWrite
	// TimersGone are removed and then TimersSet are set, so that a timer which
	// fired may be set anew (D-14). Each list is in order (TimerID.Compare) and
	// names a timer once; removing one that is not there does nothing.
	TimersGone []TimerID
	TimersSet  []Timer
	// Visitors are rows of the partition's visit streams.
	Visitors []VisitorRow
	// Taken are inbox rows of this partition, each named once.
	Taken []InboxTake
	// Produced are rows for others and itself, by this partition and
	// generation, in order of their numbers, which go on from those of the
	// generation's earlier commits (D-7).
	Produced []InboxRow
	// Appended are rows for queues, in order; ErrNoQueue if there is none for one of
	// them. Positions say how far the partition has consumed queues.
	Appended  []QueueAppend
	Positions []QueuePosition
	// Rows are written to tables; each row is named once. ErrNoTable if there is none
	// of that id, ErrConflict if a row is not what it had to be.
	Rows []TableWrite
	// The rest is left as it is when nil.
	Report           *Report
	Offset, Position []byte
	Totals           *Totals
	// Done marks the partition Completed and removes its coverage rows; pass
	// summaries stay (KV-37).
	Done bool
}
