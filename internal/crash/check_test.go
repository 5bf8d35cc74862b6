package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/internal/figures"
)

// checkOutput demands the exact figures, a summary that agrees with the files,
// and a sound history of every route.
func checkOutput(t *testing.T, dataDir string, s *summary, moving bool) {
	t.Helper()
	snapshots, evicted := checkFiles(t, dataDir, moving)
	want := summary{
		Completed: true, Messages: 20_000, Epochs: s.Epochs, Passes: s.Passes,
		Visits: uint64(len(snapshots) + len(evicted)), Evictions: int64(len(evicted)),
	}
	if *s != want {
		t.Fatalf("the summary is %+v; by the files it is %+v", *s, want)
	}
}

// checkFiles is checkOutput without a summary.
func checkFiles(t *testing.T, dataDir string, moving bool) (snapshots, evicted []record) {
	t.Helper()
	if err := figures.Check(dataDir, flights); err != nil {
		t.Fatal(err)
	}
	routes, err := figures.Output(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	if got := routes.Sum(); got != figures.Exact() {
		t.Fatalf("got %+v, want %+v", got, figures.Exact())
	}
	snapshots, evicted = records(t, dataDir, "snapshots"), records(t, dataDir, "evicted")
	if err := checkHistory(moving, snapshots, evicted); err != nil {
		t.Fatal(err)
	}
	return snapshots, evicted
}

// record is a line of a sink's file.
type record struct {
	Origin, Destination string
	Flights             int
	Pass                int
	Final               bool
	evicted             bool
}

func records(t *testing.T, dataDir, sink string) []record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dataDir, "out", sink+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	for line := range strings.Lines(string(text)) {
		r := record{evicted: sink == "evicted"}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// checkHistory follows each route through its lives. A life begins with the
// first visit after an eviction and has one visit in each pass, since a key that
// is there for a whole pass is visited in it (KV-31); its flights never
// become fewer, and it ends with an eviction or the final pass. In each file a
// route's records are in the order of passes.
func checkHistory(moving bool, files ...[]record) error {
	routes := map[string][]record{}
	for _, file := range files {
		last := map[string]int{}
		for _, r := range file {
			name := r.Origin + " " + r.Destination
			if r.Pass <= last[name] {
				return fmt.Errorf("%s: a record of pass %d after one of pass %d in the same file", name, r.Pass, last[name])
			}
			last[name] = r.Pass
			routes[name] = append(routes[name], r)
		}
	}
	for name, history := range routes {
		slices.SortFunc(history, func(a, b record) int { return a.Pass - b.Pass })
		if err := checkRoute(history, moving); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func checkRoute(history []record, moving bool) error {
	for i, r := range history[1:] {
		before := history[i]
		switch {
		case before.Final:
			return fmt.Errorf("pass %d comes after the final pass %d", r.Pass, before.Pass)
		case before.evicted:
		case r.Pass == before.Pass || r.Pass != before.Pass+1 && !moving:
			return fmt.Errorf("visited in passes %d and %d, and not between", before.Pass, r.Pass)
		case r.Flights < before.Flights:
			return fmt.Errorf("%d flights in pass %d, and %d before", r.Flights, r.Pass, before.Flights)
		}
	}
	if last := history[len(history)-1]; !last.evicted && !last.Final {
		return fmt.Errorf("the last record is of pass %d, which was not final", last.Pass)
	}
	return nil
}

// stamp tells whether a file was written.
type stamp struct {
	size  int64
	wrote time.Time
}

// stamps are those of the sinks' files.
func stamps(t *testing.T, dataDir string) map[string]stamp {
	t.Helper()
	out := map[string]stamp{}
	files, err := os.ReadDir(filepath.Join(dataDir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = stamp{info.Size(), info.ModTime()}
	}
	return out
}
