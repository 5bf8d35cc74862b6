package pebblestore

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// pipelineKinds are the rows that a pipeline has. Queues and tables are not among
// them, which outlive pipelines, nor are the counters: what they gave out stays given out.
var pipelineKinds = []byte{
	kindPipeline, kindComputation, kindPartition, kindReport, kindOffset, kindPosition, kindTotals,
	kindVisitor, kindInbox, kindState, kindTimer, kindKeyTimer,
}

// ForgetPipeline removes everything that the pipeline has in the store, in one
// transaction, and leaves the tables, and the queues with their rows, as they are. How far they
// were read goes too: the next pipeline reads them from the start, and rows that
// only the former one was done with must not be trimmed as consumed. The pipeline must not be
// running: nobody else may call the store meanwhile.
func (s *Store) ForgetPipeline(ctx context.Context) error {
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	b := s.db.NewBatch()
	defer b.Close()
	for _, kind := range pipelineKinds {
		_ = b.DeleteRange([]byte{kind}, []byte{kind + 1}, nil) // only batches with an index can fail here
	}
	_ = b.DeleteRange([]byte{kindQueue, queuePositions}, []byte{kindQueue, queuePositions + 1}, nil)
	if err := s.apply(b); err != nil {
		return err
	}
	s.parts.Lock()
	defer s.parts.Unlock()
	s.partitions, s.computations = map[store.PartitionID]*partition{}, map[string]uint64{}
	return nil
}
