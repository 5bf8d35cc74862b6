package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const flights = "../../examples/flights/data/flights-20k.jsonl"

func TestThePlainLoopOverTheInputGivesTheExactFigures(t *testing.T) {
	routes, err := Input(flights)
	if err != nil {
		t.Fatal(err)
	}
	if got := routes.Sum(); got != Exact() {
		t.Fatalf("got %+v, want %+v", got, Exact())
	}
}

// The example has one route that was evicted, came back and is there in the
// end, and one that was evicted.
const (
	input = `{"date":"2001/01/01 00:47","delay":66,"origin":"DTW","destination":"LAS"}
{"date":"2001/01/02 00:00","delay":1,"origin":"HNL","destination":"SFO"}
{"date":"2001/03/01 00:47","delay":-6,"origin":"DTW","destination":"LAS"}
`
	snapshots = `{"origin":"HNL","destination":"SFO","flights":1,"total_delay":1,"last_flight":"2001/01/02 00:00","pass":1,"final":false}
{"origin":"DTW","destination":"LAS","flights":1,"total_delay":-6,"last_flight":"2001/03/01 00:47","pass":3,"final":true}
`
	evicted = `{"origin":"DTW","destination":"LAS","flights":1,"total_delay":66,"last_flight":"2001/01/01 00:47","pass":1,"final":false}
{"origin":"HNL","destination":"SFO","flights":1,"total_delay":1,"last_flight":"2001/01/02 00:00","pass":3,"final":true}
`
)

// folder writes an input and the output of a job, and returns input file and
// data folder.
func folder(t *testing.T, snapshots, evicted string) (string, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"input.jsonl": input, "out/snapshots.jsonl": snapshots, "out/evicted.jsonl": evicted} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "input.jsonl"), dir
}

func TestCheckAcceptsARightOutput(t *testing.T) {
	in, dir := folder(t, snapshots, evicted)
	if err := Check(dir, in); err != nil {
		t.Fatal(err)
	}
	got, err := Output(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Figures{FinalRoutes: 1, Flights: 3, TotalDelay: 61, Routes: 2}); got.Sum() != want {
		t.Fatalf("got %+v, want %+v", got.Sum(), want)
	}
}

func TestCheckFindsEachKindOfFault(t *testing.T) {
	for name, c := range map[string]struct{ snapshots, evicted, want string }{
		"lost eviction":         {snapshots, strings.SplitAfter(evicted, "\n")[0], "1 routes are wrong"},
		"lost final snapshot":   {strings.SplitAfter(snapshots, "\n")[0], evicted, "DTW LAS: got {Flights:1 TotalDelay:66"},
		"wrong sum":             {strings.Replace(snapshots, ":-6", ":-5", 1), evicted, "DTW LAS: got {Flights:2 TotalDelay:61"},
		"wrong last flight":     {strings.Replace(snapshots, "03/01", "03/02", 1), evicted, "DTW LAS: got"},
		"one record twice":      {snapshots + strings.SplitAfter(snapshots, "\n")[1], evicted, "snapshots.jsonl:3: DTW LAS: a second record of pass 3"},
		"snapshot and eviction": {strings.Replace(snapshots, `"pass":1`, `"pass":3`, 1), evicted, "evicted.jsonl:2: HNL SFO: a second record of pass 3"},
		"two final snapshots":   {snapshots + strings.Replace(strings.SplitAfter(snapshots, "\n")[1], `"pass":3`, `"pass":4`, 1), evicted, "a second final snapshot"},
		"record after the end":  {snapshots + strings.NewReplacer(`"pass":3`, `"pass":4`, "true", "false").Replace(strings.SplitAfter(snapshots, "\n")[1]), evicted, "a record of pass 4 after the final snapshot of pass 3"},
		"torn line":             {snapshots, evicted[:len(evicted)-3], "the last line is torn"},
	} {
		t.Run(name, func(t *testing.T) {
			in, dir := folder(t, c.snapshots, c.evicted)
			err := Check(dir, in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}
