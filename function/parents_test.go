package function

import (
	"strings"
	"testing"
)

// TestOutputsOfVisitsMustDependOnThem: an output that visits write and that does
// not wait for them is refused before anything runs (KV-41).
func TestOutputsOfVisitsMustDependOnThem(t *testing.T) {
	_, setup := rollupOf(t, mainJob, []string{"date string required", "delay int64 required", "origin string required", "destination string required"},
		[]string{"origin string", "destination string", "flights int64", "total_delay int64", "last_flight string", "pass uint64", "final boolean"})
	setup.Visits = []string{"sweep"}
	setup.Parents = map[string][]string{"out": {"in"}, "evicted": {"sweep"}}
	_, err := NewRollup(setup)
	want := `stream out is written on visits by sweep and does not depend on them: add "out" = ["sweep"] to the streams_dependency`
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "evicted") {
		t.Errorf("error %v, want %q alone", err, want)
	}
	setup.Parents["out"] = []string{"in", "sweep"}
	if _, err := NewRollup(setup); err != nil {
		t.Error(err)
	}
}

// TestOutputsDependOnEveryVisitStream: those of the functions that write one output
// as well as those of rollup.
func TestOutputsDependOnEveryVisitStream(t *testing.T) {
	setup := expireSetup(t, `{table="/t"; column=seen; max_age="1s"; emit=gone}`)
	setup.Visits = append(setup.Visits, "mop")
	want := `stream gone is written on visits by mop and does not depend on them: add "gone" = ["sweep"; "mop"] to the streams_dependency`
	if _, err := NewExpire(setup); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	setup.Parents["gone"] = append(setup.Parents["gone"], "mop")
	if _, err := NewExpire(setup); err != nil {
		t.Error(err)
	}
}
