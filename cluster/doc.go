// Package cluster lets many processes, on many machines, run one pipeline from one
// store that all of them can reach.
//
// Each process is a worker. It beats: it tells the store, once in a while, that it
// lives, and hears who else does. One of them holds the lease and is controller
// beside its work: it gives partitions to workers, takes them from those that are
// dead, and replaces partitions whose number is to change. Any other takes over
// when the lease ends. Workers never talk to each other: rows, reports and
// ownership are all in the store.
//
// Nothing here decides what is lost or repeated. Whoever believes wrongly that it
// owns a partition, or leads, is refused by the store: an epoch names the
// partition's generation (D-2), and a controller's transaction the lease's term
// (D-5). So a frozen process, a wrong clock and a lost connection cost time alone.
//
// What the pipeline is to be about, work, pause or stop, is a part of what is stored of
// it (store.Target), which Retarget changes. Workers hear of it with their beats and
// tell with them how far they are, whoever is controller stores that a drain is over,
// and StateOf tells how far all are.
//
// Decide is pure; Member is the driver.
package cluster
