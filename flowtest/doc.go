// Package flowtest is for testing functions: a Runtime in memory that functions
// are called with directly, and short ways to write schemas, keys and messages.
//
// A test calls OnMessage or OnVisit with a Runtime as both runtime and
// collector, and looks at what was emitted, counted and kept. EndEpoch writes
// the states as the engine does at a commit, so that a value which does not
// survive its codec is found; FailEpoch takes everything back, as a failed
// epoch does.
//
// For whole pipelines there is a Recorder, which writes down every call with its
// time and key, and checks of what it wrote. Each returns an error that names
// keys and times:
//
//	Cover     every key that is there long enough is visited
//	Gap       the longest time between two visits of one key
//	Once      no key twice in one pass
//	Fresh     each call finds what the one before it left
//	NoGhost   no visit of a key without state
//	Atomic    state, output and visits agree
//	Isolate   messages take about as long with visits as without
//	Smooth    visits are spread evenly
//	Mem       memory and goroutines do not grow
//	Honest    what is reported is what happened
package flowtest
