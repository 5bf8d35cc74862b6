// Package bench measures whole pipelines on Pebble, every epoch durable, against
// a floor in the same run: a bare loop of the store operations that the pipeline
// needs at the least. A ratio to that floor says what the engine costs, whatever
// the machine.
//
//	go test -run '^$' -bench . ./internal/bench
//
// Some benchmarks are promises, and fail where they are broken: messages take
// about as long beside visits (Isolation), which keep their share under overload
// (Overload) and cost nothing when they are disabled (Disabled); a pass needs
// little memory (Memory), costs what the keys cost that are left (Evicted), and
// takes small steps (Steps). They want the machine for themselves. The full size of Memory is
//
//	go test -run '^$' -bench Memory ./internal/bench -benchtime 1x -scan-keys 10000000
package bench
