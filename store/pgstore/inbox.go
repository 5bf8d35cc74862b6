package pgstore

import (
	"context"
	"math"
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// laneRows is how many rows of a lane one statement reads at most.
const laneRows = 256

// ReadInbox reads all lanes with one statement. Of a read without a limit of
// bytes there may be several.
func (s *Store) ReadInbox(ctx context.Context, r store.InboxRequest) (*store.InboxAnswer, error) {
	answer := &store.InboxAnswer{}
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		var err error
		answer.Rows, answer.End, err = s.readInbox(ctx, db, &r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *Store) readInbox(ctx context.Context, db pgsql.DBTX, r *store.InboxRequest) (out []store.InboxRow, end bool, err error) {
	after := slices.Clone(r.After)
	slices.SortFunc(after, compareLanePlaces)
	params := &pgsql.InboxRowsParams{
		Target:      int64(r.Target),
		Layouts:     numbers(after, func(p *store.LanePlace) int64 { return int64(p.Lane.Layout) }),
		Producers:   numbers(after, func(p *store.LanePlace) int64 { return int64(p.Lane.Producer) }),
		Generations: numbers(after, func(p *store.LanePlace) int64 { return int64(p.Place.Generation) }),
		Numbers:     numbers(after, func(p *store.LanePlace) int64 { return int64(p.Place.Number) }),
		MaxRows:     laneRows, MaxBytes: int64(r.MaxBytes),
	}
	if r.MaxBytes <= 0 {
		params.MaxRows, params.MaxBytes = math.MaxInt32-1, math.MaxInt64
	}
	params.ReadRows = params.MaxRows + 1
	rows, err := s.sql.InboxRows(ctx, db, params)
	end = true
	for i := range rows {
		row := &rows[i]
		if row.Over {
			end = false
			continue
		}
		out = append(out, inboxRowOf(&pgsql.Inbox{
			Target: int64(r.Target), Layout: row.Layout, Producer: row.Producer, Generation: row.Generation, Number: row.Number,
			Previous: row.Previous, Count: row.Count, Consumed: row.Consumed, MinEvent: row.MinEvent, Payload: row.Payload,
		}))
	}
	return out, end, err
}

// InboxSizes adds up what waits, without reading payloads.
func (s *Store) InboxSizes(ctx context.Context) (out []store.InboxSize, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		rows, err := s.sql.InboxSizes(ctx, db)
		for _, r := range rows {
			out = append(out, store.InboxSize{Target: store.PartitionID(r.Target), Messages: int(r.Messages), Bytes: int(r.Bytes)})
		}
		return err
	})
	return out, err
}
