package storetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// TB is what a harness needs of a test; tests and rapid's checks both have it.
type TB interface {
	// Helper, Fatalf and Cleanup are those of testing.TB.
	Helper()
	// Fatalf fails the test and ends it.
	Fatalf(format string, args ...any)
	// Cleanup registers what is done when the test ends.
	Cleanup(func())
}

// Harness is one place where a store keeps its data, empty at first.
type Harness struct {
	// Open opens the store. It is called again after the store was closed, and
	// then has the data that was there.
	Open func(t TB) store.Store
	// Crash returns what a crash would leave at this moment; seed decides which
	// of the writes that were not yet made durable are lost. Whatever runs on
	// the former place goes on there by itself. nil: not offered.
	Crash func(t TB, seed uint64) Harness
	// Histories is the number of random histories to compare, for slow stores;
	// 0 means as many as rapid makes.
	Histories int
}

// Run proves that the stores of a harness keep the contract. fresh makes a new
// harness for every test.
func Run(t *testing.T, fresh func(t TB) Harness) {
	groups := []struct {
		name  string
		tests map[string]func(t *testing.T, h Harness)
	}{
		{"states", stateTests},
		{"list", listTests},
		{"timers", timerTests},
		{"fence", fenceTests},
		{"conflict", conflictTests},
		{"inbox", inboxTests},
		{"job", jobTests},
		{"catalog", catalogTests},
		{"relayout", relayoutTests},
		{"queue", queueTests},
		{"queue together", queueTogetherTests},
		{"table", tableTests},
		{"durability", durabilityTests},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(g.tests)) {
				t.Run(name, func(t *testing.T) { g.tests[name](t, fresh(t)) })
			}
		})
	}
	t.Run("crash", func(t *testing.T) { testCrashes(t, fresh) })
	t.Run("history", func(t *testing.T) { testHistories(t, fresh) })
}
