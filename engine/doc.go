// Package engine runs pipelines: it turns a spec into partitions, gives each
// one goroutine that drives its partition.Machine, delivers between them, and
// says how far the pipeline is.
//
// # How to run a pipeline
//
// A spec names functions, sources and sinks; a program says what the names mean.
// It registers its functions in a [flow.Registry] and connectors in a
// [connector.Registry], reads the spec with [spec.Parse], and hands all to
// [Prepare] in [Options]. Then it opens a store, which nobody else has open, calls
// [Pipeline.Run], and closes the store when that has returned:
//
//	pipeline, err := engine.Prepare(ctx, engine.Options{
//		Spec: parsed, Functions: &functions, Connectors: &connectors,
//		SpecDir: "folder/of/the/spec", DataDir: "folder/of/the/data",
//	})
//	...
//	store, err := pebblestore.Open("folder/of/the/data/store", pebblestore.Options{})
//	...
//	summary, err := pipeline.Run(ctx, store)
//	err = errors.Join(err, store.Close())
//
// Run returns when the pipeline is completed, or was ended by [Pipeline.Pause],
// [Pipeline.Stop] or its context. Whatever ended it, a new Pipeline on the same
// store goes on where it was. [Pipeline.Status] may be asked meanwhile. The example
// of this package is a whole program.
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
//	gossip.go, tidings.go what other workers have committed and told
//	router.go, wire.go    output to inbox rows and back
//	process_*.go          what an epoch does: function, passthrough, sink
//	orders.go, control.go what a running pipeline is told: dynamic spec, run-now
//	target.go             what all workers are to be about: work, pause, drain, rest
//	status.go, visits.go  what is shown, problems.go what is wrong
//
// # Who owns what
//
// A job's goroutine owns its machine, its processor and its reader's batches. A
// mailbox is filled by producers' jobs and emptied by its own. Lists of visit
// streams and reads of sources run in goroutines that their job waits for.
//
// # Lock order
//
// The exchange has one lock, with its mailboxes; each partition's board and the
// input in hand have one of their own, and the pipeline has one for Stop and
// Pause. The board's is held over that of the input in hand, the pipeline's over
// the exchange's; no others nest, and none is held over a call to a store, a
// connector or a function.
package engine
