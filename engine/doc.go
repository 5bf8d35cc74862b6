// Package engine runs pipelines: it turns a spec into partitions, gives each
// one goroutine that drives its partition.Machine, delivers between them, and
// says how far the pipeline is.
//
// # How it is cut
//
// Prepare checks everything that can be checked without changing anything and
// returns a Pipeline; Run opens the layout in a store and works until the
// pipeline is completed, stopped or paused. Inside:
//
//	plan.go, layout.go    what a spec means: nodes, streams, partitions
//	job.go                the driver of one machine: one goroutine
//	supervise.go          starts jobs again when they fail (D-1, D-24)
//	exchange.go           hand-over in memory between partitions (D-10, D-18)
//	router.go, wire.go    output to inbox rows and back
//	process_*.go          what an epoch does: function, passthrough, sink
//	status.go, summary.go what is shown
//
// # Who owns what
//
// A job's goroutine owns its machine, its processor and its reader's batches. A
// mailbox is written by producers' jobs and read by its own; the exchange's
// sizes are shared. Lists of visit streams and reads of sources run in
// goroutines that their job waits for.
//
// # Lock order
//
// There are two kinds of locks, a mailbox's and the exchange's; none is held
// while another is taken, and none is held over a call to a store, a connector
// or a function.
package engine
