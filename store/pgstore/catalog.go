package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// The counters.
const (
	counterGeneration = "generation"
	counterPartition  = "partition"
	counterQueue      = "queue"
	counterTable      = "table"
)

// Pipeline returns the stored pipeline.
func (s *Store) Pipeline(ctx context.Context) (out *store.Pipeline, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		p, err := s.sql.Pipeline(ctx, db)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		out = &store.Pipeline{Name: string(p.Name), Static: string(p.Static), Dynamic: string(p.Dynamic), Loaded: string(p.Loaded), Version: uint64(p.Version)}
		for i := range p.RunIds {
			out.Runs = append(out.Runs, store.Run{
				Computation: string(p.RunComputations[i]), Stream: string(p.RunStreams[i]), ID: uint64(p.RunIds[i]), Period: p.RunPeriods[i],
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SavePipeline replaces the stored pipeline if p was made from it.
func (s *Store) SavePipeline(ctx context.Context, p *store.Pipeline) error {
	next := pgsql.InsertPipelineParams{
		Version: int64(p.Version + 1), Name: []byte(p.Name), Static: []byte(p.Static), Dynamic: []byte(p.Dynamic), Loaded: []byte(p.Loaded),
		RunComputations: texts(p.Runs, func(r *store.Run) string { return r.Computation }),
		RunStreams:      texts(p.Runs, func(r *store.Run) string { return r.Stream }),
		RunIds:          numbers(p.Runs, func(r *store.Run) int64 { return int64(r.ID) }),
		RunPeriods:      numbers(p.Runs, func(r *store.Run) int64 { return r.Period }),
	}
	err := s.change(ctx, func(ctx context.Context, tx pgsql.DBTX) error {
		saved, err := s.savePipeline(ctx, tx, p.Version, &next)
		if err == nil && saved == 0 {
			err = fmt.Errorf("the pipeline has not version %d any more: %w", p.Version, store.ErrConflict)
		}
		return err
	})
	if err == nil {
		p.Version++
	}
	return err
}

func (s *Store) savePipeline(ctx context.Context, tx pgsql.DBTX, former uint64, next *pgsql.InsertPipelineParams) (int64, error) {
	if former == 0 {
		return s.sql.InsertPipeline(ctx, tx, next)
	}
	return s.sql.UpdatePipeline(ctx, tx, &pgsql.UpdatePipelineParams{
		Former: int64(former), Version: next.Version, Name: next.Name, Static: next.Static, Dynamic: next.Dynamic, Loaded: next.Loaded,
		RunComputations: next.RunComputations, RunStreams: next.RunStreams, RunIds: next.RunIds, RunPeriods: next.RunPeriods,
	})
}

// Partitions returns all partitions.
func (s *Store) Partitions(ctx context.Context) (out []store.Partition, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		out, err = s.partitions(ctx, db)
		return err
	})
	return out, err
}

func (s *Store) partitions(ctx context.Context, db pgsql.DBTX) (out []store.Partition, err error) {
	rows, err := s.sql.Partitions(ctx, db)
	for i := range rows {
		out = append(out, partitionOf(&rows[i]))
	}
	return out, err
}

// CreatePartitions numbers and stores the partitions.
func (s *Store) CreatePartitions(ctx context.Context, ps []store.Partition) (out []store.Partition, err error) {
	for i := range ps {
		if err := ps[i].Validate(); err != nil {
			return nil, err
		}
	}
	err = s.change(ctx, func(ctx context.Context, tx pgsql.DBTX) error {
		out, err = s.create(ctx, tx, ps)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// create holds the counter of partitions until the transaction ends.
func (s *Store) create(ctx context.Context, tx pgsql.DBTX, ps []store.Partition) ([]store.Partition, error) {
	last, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterPartition, N: int64(len(ps))})
	if err != nil {
		return nil, err
	}
	out := make([]store.Partition, len(ps))
	for i := range ps {
		p := ps[i]
		p.ID, p.State, p.Generation = store.PartitionID(last-int64(len(ps)-1-i)), store.Executing, 0
		params := partitionParams(&p)
		if _, err := s.sql.InsertComputation(ctx, tx, params.Computation); err != nil {
			return nil, err
		}
		if err := s.sql.InsertPartition(ctx, tx, params); err != nil {
			return nil, err
		}
		if err := s.sql.InsertHead(ctx, tx, params.ID); err != nil {
			return nil, err
		}
		p.Routing = append([]store.Route(nil), p.Routing...)
		out[i] = p
	}
	return out, nil
}

// RaiseGeneration locks the partition's row, which waits for the commit in flight,
// and reads what a job needs in the transaction that raises.
func (s *Store) RaiseGeneration(ctx context.Context, id store.PartitionID) (job *store.Job, err error) {
	err = s.change(ctx, func(ctx context.Context, tx pgsql.DBTX) error {
		row, err := s.sql.LockPartition(ctx, tx, int64(id))
		if err != nil {
			return noPartition(id, err)
		}
		if row.Generation, err = s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterGeneration, N: 1}); err != nil {
			return err
		}
		if err := s.sql.SetGeneration(ctx, tx, &pgsql.SetGenerationParams{ID: int64(id), Generation: row.Generation}); err != nil {
			return err
		}
		job, err = s.job(ctx, tx, partitionOf(&row))
		return err
	})
	if errors.Is(err, store.ErrUnknownOutcome) {
		// Raising it once more harms nobody.
		return nil, fmt.Errorf("%w: the generation of partition %d may have been raised: %v", store.ErrUnavailable, id, err)
	}
	if err != nil {
		return nil, err
	}
	return job, nil
}

func noPartition(id store.PartitionID, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("there is no partition %d: %w", id, store.ErrFenced)
	}
	return err
}

// job reads what the partition's epochs have committed beside states and inbox.
func (s *Store) job(ctx context.Context, db pgsql.DBTX, p store.Partition) (*store.Job, error) {
	h, err := s.sql.Head(ctx, db, int64(p.ID))
	if err != nil {
		return nil, err
	}
	visitors, err := s.visitors(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	return &store.Job{
		Partition: p, Visitors: visitors, Report: reportOf(&h), Totals: totalsOf(&h), Offset: h.SourceOffset, Position: h.SinkPosition,
	}, nil
}

func (s *Store) visitors(ctx context.Context, db pgsql.DBTX, id store.PartitionID) (out []store.VisitorRow, err error) {
	rows, err := s.sql.Visitors(ctx, db, int64(id))
	for _, r := range rows {
		out = append(out, store.VisitorRow{Stream: string(r.Stream), Slot: int(r.Slot), Value: r.Value})
	}
	return out, err
}

// Visitors returns the rows of a partition's visit streams.
func (s *Store) Visitors(ctx context.Context, id store.PartitionID) (out []store.VisitorRow, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		if _, err := s.sql.Partition(ctx, db, int64(id)); err != nil {
			return noPartition(id, err)
		}
		out, err = s.visitors(ctx, db, id)
		return err
	})
	return out, err
}

// Reports returns the last report of every partition that has one.
func (s *Store) Reports(ctx context.Context) (out []store.Report, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		heads, err := s.sql.Reports(ctx, db)
		for i := range heads {
			out = append(out, *reportOf(&heads[i]))
		}
		return err
	})
	return out, err
}

// Totals returns the counters of every partition that has some.
func (s *Store) Totals(ctx context.Context) (out []store.PartitionTotals, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		heads, err := s.sql.Totals(ctx, db)
		for i := range heads {
			out = append(out, store.PartitionTotals{Partition: store.PartitionID(heads[i].Partition), Totals: totalsOf(&heads[i])})
		}
		return err
	})
	return out, err
}
