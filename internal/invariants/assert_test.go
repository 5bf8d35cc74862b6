package invariants_test

import (
	"testing"

	"github.com/rondo-flow/rondo/internal/invariants"
)

// panicOf runs f and returns what it panicked with, nil for a normal return.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func TestAssertPanicsOnlyInBuildsThatCheck(t *testing.T) {
	got := panicOf(func() { invariants.Assert(false, "visit: bound inside a key") })
	var want any
	if invariants.Enabled {
		want = "invariant broken: visit: bound inside a key"
	}
	if got != want {
		t.Fatalf("Assert(false) with Enabled=%v panicked with %v, want %v", invariants.Enabled, got, want)
	}
}

func TestAssertAcceptsATrueCondition(t *testing.T) {
	if got := panicOf(func() { invariants.Assert(true, "never said") }); got != nil {
		t.Fatalf("Assert(true) panicked with %v", got)
	}
}
