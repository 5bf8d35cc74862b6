package connectortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/schema"
)

// Source checks a finite source whose content does not change: its partitions
// are the same at each call, limits are kept, and a reader opened at any offset
// that was given out returns exactly the rows that follow it, and passes over as
// many. It returns the rows of each partition.
func Source(t *testing.T, src connector.Source, s *schema.Schema) map[string][]schema.Row {
	t.Helper()
	partitions := partitionsOf(t, src)
	rows := map[string][]schema.Row{}
	for _, p := range partitions {
		t.Run("partition "+p, func(t *testing.T) {
			c := sourceCheck{src, s, p}
			rows[p] = c.run(t)
		})
	}
	return rows
}

func partitionsOf(t *testing.T, src connector.Source) []string {
	t.Helper()
	first, err := src.Partitions(t.Context())
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	second, err := src.Partitions(t.Context())
	if err != nil || !slices.Equal(first, second) {
		t.Fatalf("partitions are %q, then %q (%v)", first, second, err)
	}
	sorted := slices.Sorted(slices.Values(first))
	if len(first) == 0 || len(slices.Compact(sorted)) != len(first) {
		t.Fatalf("partitions are %q, want at least one and each once", first)
	}
	return first
}

type sourceCheck struct {
	src       connector.Source
	schema    *schema.Schema
	partition string
}

// unlimited is more than any test source has.
var unlimited = connector.Limit{Rows: 1 << 30, Bytes: 1 << 40}

func (c sourceCheck) run(t *testing.T) []schema.Row {
	want := c.rows(t, c.batches(t, nil, unlimited))
	for _, limit := range []connector.Limit{{}, {Rows: 1, Bytes: 1 << 40}, {Rows: 3, Bytes: 1 << 40}, {Rows: 1 << 30, Bytes: 1}, {Rows: 7, Bytes: 300}} {
		name := fmt.Sprintf("limit %d rows, %d bytes", limit.Rows, limit.Bytes)
		batches := c.batches(t, nil, limit)
		c.checkLimits(t, batches, limit)
		compare(t, name, c.rows(t, batches), want)
		c.checkOffsets(t, name, batches, want)
	}
	c.checkCancel(t)
	return want
}

// batches reads from the offset to the end.
func (c sourceCheck) batches(t *testing.T, offset []byte, limit connector.Limit) []connector.Batch {
	t.Helper()
	r, err := c.src.Open(t.Context(), c.partition, offset)
	if err != nil {
		t.Fatalf("open at offset %q: %v", offset, err)
	}
	defer closeIt(t, r)
	var batches []connector.Batch
	for {
		b, err := r.Read(t.Context(), limit)
		if err != nil {
			t.Fatalf("read after offset %q and %d batches: %v", offset, len(batches), err)
		}
		batches = append(batches, b)
		if b.End {
			return batches
		}
		if len(b.Rows)+b.Skipped == 0 {
			t.Fatalf("batch %d after offset %q is empty and is not the end", len(batches), offset)
		}
	}
}

func closeIt(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (c sourceCheck) rows(t *testing.T, batches []connector.Batch) []schema.Row {
	t.Helper()
	var rows []schema.Row
	for _, b := range batches {
		if b.Gap != "" {
			t.Errorf("a gap where nothing changes: %s", b.Gap)
		}
		if (b.Skipped > 0) != (b.SkippedFirst != nil) {
			t.Errorf("%d rows skipped, the first because of %v", b.Skipped, b.SkippedFirst)
		}
		if b.EventTimestamps != nil && len(b.EventTimestamps) != len(b.Rows) {
			t.Errorf("%d event timestamps for %d rows", len(b.EventTimestamps), len(b.Rows))
		}
		rows = append(rows, b.Rows...)
	}
	for i, row := range rows {
		if err := c.schema.Check(row); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
	}
	return rows
}

func (c sourceCheck) checkLimits(t *testing.T, batches []connector.Batch, limit connector.Limit) {
	t.Helper()
	for i, b := range batches {
		if n := len(b.Rows) + b.Skipped; n > 1 && n > limit.Rows {
			t.Errorf("batch %d has %d rows, those skipped included, the limit is %d", i, n, limit.Rows)
		}
	}
}

func (c sourceCheck) checkOffsets(t *testing.T, name string, batches []connector.Batch, want []schema.Row) {
	t.Helper()
	read, skipped := 0, 0
	for _, b := range batches {
		read, skipped = read+len(b.Rows), skipped+b.Skipped
		rest := c.batches(t, b.Offset, unlimited)
		compare(t, fmt.Sprintf("%s, from row %d on", name, read), c.rows(t, rest), want[read:])
		if more := skippedIn(rest); skipped+more != skippedIn(batches) {
			t.Errorf("%s: %d rows passed over before row %d and %d behind, want %d", name, skipped, read, more, skippedIn(batches))
		}
	}
}

func skippedIn(batches []connector.Batch) int {
	n := 0
	for _, b := range batches {
		n += b.Skipped
	}
	return n
}

func (c sourceCheck) checkCancel(t *testing.T) {
	t.Helper()
	r, err := c.src.Open(t.Context(), c.partition, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, unlimited); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a cancelled context: error %v, want %v", err, context.Canceled)
	}
}

func compare(t *testing.T, name string, got, want []schema.Row) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal[schema.Row]) {
		t.Errorf("%s: %d rows\n%v\nwant %d rows\n%v", name, len(got), got, len(want), want)
	}
}
