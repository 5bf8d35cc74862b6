// Package bench measures whole pipelines on Pebble, every epoch durable, against
// a floor in the same run: a bare loop of the store operations that the pipeline
// needs at the least. A ratio to that floor says what the engine costs, whatever
// the machine.
//
//	go test -run '^$' -bench . ./internal/bench
package bench
