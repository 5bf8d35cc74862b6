// Package connector is the contract of sources and sinks: where rows come from
// and where they go. Sub-packages implement it, one each.
//
// For what is outside the store, exactly once rests on two things that a
// connector must give (D-26):
//
//   - A source can start again at an offset that it gave out before. Offsets
//     are stored in the transaction that consumes the rows before them.
//   - A sink can be cut back to a position that it gave out before. Positions
//     are stored in the transaction that removes the written rows, after they
//     are durable at the sink; what a crash left beyond is removed at Open.
//
// What lies in the store (InStore, StoreSink) is part of the epoch itself (D-25).
package connector
