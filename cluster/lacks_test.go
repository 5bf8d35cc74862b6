package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// drawnLacks makes some partitions files, and workers lack files and computations.
func drawnLacks(t *rapid.T) State {
	s := drawn(t)
	s.Lacks = map[string][]engine.Lack{}
	for i := range s.Partitions {
		if p := &s.Partitions[i]; p.Computation == "a" {
			p.Name = fmt.Sprint("f/", i%4)
		}
	}
	for _, w := range s.Workers {
		for range rapid.IntRange(0, 3).Draw(t, "lacks") {
			l := engine.Lack{Computation: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "lacking"), Why: "gone", Outage: rapid.Bool().Draw(t, "outage")}
			if l.Computation == "a" {
				l.Partition = rapid.SampledFrom([]string{"", "f/0", "f/1"}).Draw(t, "file")
			}
			s.Lacks[w.ID] = append(s.Lacks[w.ID], l)
		}
	}
	return s
}

// lacking is the twin of lacks: what a worker said, and whether all others that live
// said the same and may wait.
func lacking(s *State, worker string, p *store.Partition) bool {
	outage := func(worker string, at engine.Lack) (lacks, waits bool) {
		for _, l := range s.Lacks[worker] {
			if l.Computation == at.Computation && l.Partition == at.Partition {
				waits, lacks = l.Outage && (waits || !lacks), true
			}
		}
		return lacks, waits
	}
	return slices.ContainsFunc(s.Lacks[worker], func(l engine.Lack) bool {
		if l.Computation != p.Computation || l.Partition != "" && l.Partition != p.Name {
			return false
		}
		return slices.ContainsFunc(s.living()[""], func(w store.Worker) bool {
			lacks, waits := outage(w.ID, l)
			return !lacks || !waits
		})
	})
}

// TestAWorkerGetsNothingThatItCannotRun: not even where nobody can; what somebody can
// run has an owner, and what nobody can is told of.
func TestAWorkerGetsNothingThatItCannotRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawnLacks(t)
		a := Decide(s)
		for _, m := range a.Moves {
			i := slices.IndexFunc(s.Partitions, func(p store.Partition) bool { return p.ID == m.Partition })
			if m.To != "" && lacking(&s, m.To, &s.Partitions[i]) {
				t.Fatalf("%+v: it lacks %s %s", m, s.Partitions[i].Computation, s.Partitions[i].Name)
			}
		}
		told := Stranded(s)
		able := map[string]bool{} // computations that all have somebody
		for _, p := range carriedOut(s, a) {
			if p.State == store.Completed {
				continue
			}
			someone := slices.ContainsFunc(s.living()[""], func(w store.Worker) bool { return !lacking(&s, w.ID, &p) })
			if _, known := able[p.Computation]; !known {
				able[p.Computation] = true
			}
			able[p.Computation] = able[p.Computation] && someone
			if owner := slices.ContainsFunc(s.living()[""], func(w store.Worker) bool { return w.ID == p.Worker }); someone && (!owner || lacking(&s, p.Worker, &p)) {
				t.Fatalf("partition %d of %s %s could run, and belongs to %q", p.ID, p.Computation, p.Name, p.Worker)
			}
		}
		for c, all := range able {
			if (told[c] == "") != all {
				t.Fatalf("%s: everybody has somebody: %v; told: %q", c, all, told[c])
			}
		}
	})
}

// TestWhatNobodyCanRunIsToldWithWhatIsLackingAndWhere.
func TestWhatNobodyCanRunIsToldWithWhatIsLackingAndWhere(t *testing.T) {
	shout := engine.Lack{Computation: "c", Why: `no function "shout"`}
	file := func(name string) engine.Lack {
		return engine.Lack{Computation: "c", Partition: name, Why: name + " is not here"}
	}
	table := engine.Lack{Computation: "c", Why: "no table", Outage: true}
	for name, c := range map[string]struct {
		group string
		lacks map[string][]engine.Lack
		want  string
	}{
		"one of two can":      {lacks: map[string][]engine.Lack{"x": {shout}}},
		"a function":          {lacks: map[string][]engine.Lack{"x": {shout}, "y": {shout}}, want: `no worker can run its partition f/1 (x: no function "shout"; y: no function "shout"): start one that has what is lacking, or add that to one of these`},
		"each has one file":   {lacks: map[string][]engine.Lack{"x": {file("f/1")}, "y": {file("f/2")}}},
		"a file":              {lacks: map[string][]engine.Lack{"x": {file("f/2")}, "y": {file("f/2")}}, want: "its partition f/2 (x: f/2 is not here; y: f/2 is not here)"},
		"for other reasons":   {lacks: map[string][]engine.Lack{"x": {shout}, "y": {file("f/1")}}, want: `(x: no function "shout"; y: f/1 is not here)`},
		"all may wait for it": {lacks: map[string][]engine.Lack{"x": {table}, "y": {table}}},
		"one has no table":    {lacks: map[string][]engine.Lack{"x": {table}}},
		"no worker of it":     {group: "gpu", want: "no worker of the group gpu runs: start one with rondo worker --group gpu"},
	} {
		s := State{Dead: time.Second, Lacks: c.lacks, Group: func(string) string { return c.group }}
		s.Workers = []store.Worker{{ID: "dead", Unseen: time.Minute}, {ID: "x"}, {ID: "y"}}
		for i := range 2 {
			s.Partitions = append(s.Partitions, store.Partition{ID: store.PartitionID(i + 1), Computation: "c", Name: fmt.Sprint("f/", i+1), State: store.Executing})
		}
		if got := Stranded(s)["c"]; (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
