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
	counterAssignment = "assignment"
	counterTable      = "table"
)

// Pipeline returns the stored pipeline.
func (s *Store) Pipeline(ctx context.Context) (out *store.Pipeline, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		p, err := s.sql.Pipeline(ctx, db)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		out = &store.Pipeline{Name: string(p.Name), Static: string(p.Static), Dynamic: string(p.Dynamic), Loaded: string(p.Loaded), Version: uint64(p.Version), Target: store.Target(p.Target), Aimed: uint64(p.Aimed)}
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
	return s.Submit(ctx, p, nil)
}

// Submit is that and CreatePartitions.
func (s *Store) Submit(ctx context.Context, p *store.Pipeline, more []store.Partition) error {
	for i := range more {
		if err := more[i].Validate(); err != nil {
			return err
		}
	}
	next := pgsql.InsertPipelineParams{
		Version: int64(p.Version + 1), Name: []byte(p.Name), Static: []byte(p.Static), Dynamic: []byte(p.Dynamic), Loaded: []byte(p.Loaded),
		RunComputations: texts(p.Runs, func(r *store.Run) string { return r.Computation }),
		RunStreams:      texts(p.Runs, func(r *store.Run) string { return r.Stream }),
		RunIds:          numbers(p.Runs, func(r *store.Run) int64 { return int64(r.ID) }),
		RunPeriods:      numbers(p.Runs, func(r *store.Run) int64 { return r.Period }),
		Target:          int16(p.Target), Aimed: int64(p.Aimed),
	}
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		saved, err := s.savePipeline(ctx, tx, p.Version, &next)
		if err == nil && saved == 0 {
			err = fmt.Errorf("the pipeline has not version %d any more: %w", p.Version, store.ErrConflict)
		}
		if err == nil && len(more) > 0 {
			_, err = s.create(ctx, tx, more)
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
		RunComputations: next.RunComputations, RunStreams: next.RunStreams, RunIds: next.RunIds, RunPeriods: next.RunPeriods, Target: next.Target, Aimed: next.Aimed,
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
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		out, err = s.create(ctx, tx, ps)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// create holds the counter of partitions until the transaction ends.
func (s *Store) create(ctx context.Context, tx pgx.Tx, ps []store.Partition) ([]store.Partition, error) {
	last, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterPartition, N: int64(len(ps))})
	if err != nil {
		return nil, err
	}
	out := make([]store.Partition, len(ps))
	e, named := &epoch{}, map[string]bool{}
	for i := range ps {
		p := ps[i]
		p.ID, p.State, p.Generation = store.PartitionID(last-int64(len(ps)-1-i)), store.Executing, 0
		params := partitionParams(&p)
		if !named[p.Computation] {
			_, _ = s.sql.InsertComputation(ctx, e, params.Computation)
		}
		named[p.Computation] = true
		_ = s.sql.InsertPartition(ctx, e, params)
		_ = s.sql.InsertHead(ctx, e, params.ID)
		p.Routing = append([]store.Route(nil), p.Routing...)
		out[i] = p
	}
	return out, e.in(ctx, tx)
}

// RaiseGeneration raises first, which waits for the commit in flight, and then
// reads what a job needs (D-1). Should somebody raise again between the two, what is
// read may be newer, and the job finds itself fenced.
func (s *Store) RaiseGeneration(ctx context.Context, id store.PartitionID) (job *store.Job, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		raised, err := s.sql.RaiseGeneration(ctx, db, &pgsql.RaiseGenerationParams{ID: int64(id), Worker: s.opts.Worker})
		if err != nil {
			return err
		}
		p, err := s.sql.Partition(ctx, db, int64(id))
		if err != nil {
			return noPartition(id, err)
		}
		p.Generation = raised
		jobs, err := s.jobs(ctx, db, []store.Partition{partitionOf(&p)})
		if err == nil {
			job = &jobs[0]
		}
		return err
	})
	return job, err
}

func noPartition(id store.PartitionID, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("there is no partition %d: %w", id, store.ErrFenced)
	}
	return err
}

// jobs reads what the partitions' epochs have committed beside states and inbox.
func (s *Store) jobs(ctx context.Context, db pgsql.DBTX, ps []store.Partition) ([]store.Job, error) {
	ids := numbers(ps, func(p *store.Partition) int64 { return int64(p.ID) })
	heads, err := s.sql.Heads(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	visitors, err := s.visitors(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[store.PartitionID]*pgsql.Head, len(heads))
	for i := range heads {
		byID[store.PartitionID(heads[i].Partition)] = &heads[i]
	}
	out := make([]store.Job, len(ps))
	for i, p := range ps {
		h := byID[p.ID]
		if h == nil {
			return nil, noPartition(p.ID, pgx.ErrNoRows)
		}
		out[i] = store.Job{
			Partition: p, Visitors: visitors[p.ID], Report: reportOf(h), Totals: totalsOf(h), Offset: h.SourceOffset, Position: h.SinkPosition,
		}
	}
	return out, nil
}

func (s *Store) visitors(ctx context.Context, db pgsql.DBTX, ids []int64) (map[store.PartitionID][]store.VisitorRow, error) {
	rows, err := s.sql.Visitors(ctx, db, ids)
	out := make(map[store.PartitionID][]store.VisitorRow, len(ids))
	for _, r := range rows {
		id := store.PartitionID(r.Partition)
		out[id] = append(out[id], store.VisitorRow{Stream: string(r.Stream), Slot: int(r.Slot), Value: r.Value})
	}
	return out, err
}

// Visitors returns the rows of a partition's visit streams.
func (s *Store) Visitors(ctx context.Context, id store.PartitionID) (out []store.VisitorRow, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		if _, err := s.sql.Partition(ctx, db, int64(id)); err != nil {
			return noPartition(id, err)
		}
		rows, err := s.visitors(ctx, db, []int64{int64(id)})
		out = rows[id]
		return err
	})
	return out, err
}

// Reports returns the last report of every partition that has one.
func (s *Store) Reports(ctx context.Context) ([]store.Report, error) {
	return s.reports(ctx, s.sql.Reports)
}

// ReportsOf returns those of some partitions.
func (s *Store) ReportsOf(ctx context.Context, ids []store.PartitionID) ([]store.Report, error) {
	return s.reports(ctx, func(ctx context.Context, db pgsql.DBTX) ([]pgsql.Head, error) {
		return s.sql.ReportsOf(ctx, db, idsOf(ids))
	})
}

func (s *Store) reports(ctx context.Context, read func(context.Context, pgsql.DBTX) ([]pgsql.Head, error)) (out []store.Report, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		heads, err := read(ctx, db)
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
