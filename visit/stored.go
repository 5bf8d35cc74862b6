package visit

// Stored is what the store holds of one visit stream of one partition, as read
// back. The zero value is a stream that has never run.
type Stored struct {
	// Record is the pass record, nil if there is none.
	Record []byte
	// Summaries is the row of pass summaries, nil if there is none.
	Summaries []byte
	// Buckets holds the committed intervals of each bucket by its index.
	Buckets map[int][]byte
}

// Delta is what an epoch's transaction must write about the stream. The zero
// value writes nothing.
type Delta struct {
	// Remove says that the record and all bucket rows of the partition go, the
	// summaries not; the fields below are written after that.
	Remove bool
	// Record replaces the pass record; nil leaves it as it is.
	Record []byte
	// Summaries replaces the row of summaries; nil leaves it as it is.
	Summaries []byte
	// Buckets are the rows that change, by ascending index.
	Buckets []BucketRow
}

// BucketRow is the new value of one bucket's row.
type BucketRow struct {
	Index int
	// Value is the row's new value, nil to delete the row.
	Value []byte
}

// Empty says whether there is nothing to write.
func (d Delta) Empty() bool {
	return !d.Remove && d.Record == nil && d.Summaries == nil && len(d.Buckets) == 0
}

// Passes returns the summaries that are stored, oldest first.
func (s Stored) Passes() ([]Summary, error) { return decodeRow(s.Summaries, decodeSummaries) }

// Final says whether the pass that is stored is the final one (KV-36). A record
// that cannot be decoded counts as not there, as it does for [New].
func (s Stored) Final() bool {
	rec, err := decodeRow(s.Record, decodeRecord)
	return err == nil && rec.final
}
