package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// tally is what the store knows of one computation.
type tally struct {
	partitions int
	messages   int // consumed
	waiting    int // in its inboxes
	visits     int
	evictions  int
}

// audit checks that what is committed fits together: every message that was
// read or emitted is consumed or waits, in one place (D-6), and each sink's file
// has what was recorded, and at most one write of the given number of rows
// beyond (D-26).
func audit(ctx context.Context, s store.Store, dataDir string, rows int) error {
	tallies, err := tallyUp(ctx, s)
	if err != nil || len(tallies) == 0 {
		return err
	}
	if clocks, ok := tallies["clocks"]; ok {
		return auditClocks(tallies, clocks, dataDir, rows)
	}
	reader, routes := tallies["reader"], tallies["routes"]
	emitted := 0
	var problems []error
	for name, t := range tallies {
		sink, ok := strings.CutPrefix(name, "routes/sinks/")
		if !ok {
			continue
		}
		emitted += t.messages + t.waiting
		problems = append(problems, auditFile(dataDir, sink, t.messages, rows))
	}
	evicted := tallies["routes/sinks/evicted"]
	return errors.Join(append(problems,
		equal("flights read", reader.messages, "flights consumed or waiting", routes.messages+routes.waiting),
		equal("visits", routes.visits, "records written or waiting", emitted),
		equal("evictions counted", routes.evictions, "evictions written or waiting", evicted.messages+evicted.waiting),
	)...)
}

func equal(what string, a int, other string, b int) error {
	if a == b {
		return nil
	}
	return fmt.Errorf("%d %s, and %d %s", a, what, b, other)
}

func tallyUp(ctx context.Context, s store.Store) (map[string]tally, error) {
	parts, err := s.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		return nil, err
	}
	sizes, err := s.InboxSizes(ctx)
	if err != nil {
		return nil, err
	}
	of := map[store.PartitionID]string{}
	out := map[string]tally{}
	add := func(id store.PartitionID, more tally) {
		t := out[of[id]]
		out[of[id]] = tally{
			t.partitions + more.partitions, t.messages + more.messages, t.waiting + more.waiting,
			t.visits + more.visits, t.evictions + more.evictions,
		}
	}
	for _, p := range parts {
		of[p.ID] = p.Computation
		add(p.ID, tally{partitions: 1})
	}
	for _, p := range totals {
		add(p.Partition, newTally(p.Totals))
	}
	for _, size := range sizes {
		add(size.Target, tally{waiting: size.Messages})
	}
	return out, nil
}

func newTally(t store.Totals) tally {
	out := tally{messages: int(t.Messages), visits: int(t.Visits)}
	for _, c := range t.Counts {
		if c.Name == "evictions" {
			out.evictions = int(c.Value)
		}
	}
	return out
}

// auditFile compares the lines of a sink's file with the number recorded.
func auditFile(dataDir, sink string, recorded, rows int) error {
	text, err := os.ReadFile(filepath.Join(dataDir, "out", sink+".jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if lines := bytes.Count(text, []byte("\n")); lines < recorded || lines > recorded+rows {
		return fmt.Errorf("%s.jsonl has %d lines, and %d are recorded (a write has at most %d)", sink, lines, recorded, rows)
	}
	return nil
}
