// Package storetest proves that a store keeps the contract of package store,
// and gives tests stores that are easy to reason about.
//
//   - Run is the conformance suite: every implementation passes it.
//   - Model is the simplest store that is correct: maps behind one lock, sorted
//     when read. It keeps nothing on disk. The suite compares random histories
//     of a store with it, and tests that need no disk use it as their store.
//   - Faults wraps a store and lets a test decide what happens to each call: it
//     fails, loses its outcome, waits, or finds the disk full.
//
// Nothing here uses time or randomness of its own: the same script gives the
// same history.
package storetest
