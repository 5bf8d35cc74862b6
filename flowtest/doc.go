// Package flowtest is for testing functions: a Runtime in memory that functions
// are called with directly, and short ways to write schemas, keys and messages.
//
// A test calls OnMessage or OnVisit with a Runtime as both runtime and
// collector, and looks at what was emitted, counted and kept. EndEpoch writes
// the states as the engine does at a commit, so that a value which does not
// survive its codec is found; FailEpoch takes everything back, as a failed
// epoch does.
package flowtest
