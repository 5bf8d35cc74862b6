// Package store is the contract between the engine and whatever keeps a
// pipeline's data. It holds types and interfaces and no implementation;
// storetest proves that an implementation keeps the contract.
//
// # Guarantees
//
// Every implementation gives these, and the engine relies on nothing else:
//
//  1. A commit is atomic, and durable when Commit returns nil.
//
//  2. A commit that names a generation which is not the partition's current
//     one changes nothing and fails with ErrFenced (D-2). The check is part
//     of the transaction, not of the client.
//
//  3. RaiseGeneration waits for commits of the former owner that are in
//     flight, and returns only after the new generation is durable (D-1).
//
//  4. A reader sees its own commits. A list is ordered by key, then name, is
//     half-open, and never returns part of a row.
//
//  5. Generations come from one counter, partition ids from another; neither
//     is ever used twice (D-1).
//
//  6. Formats are versioned; a newer one is refused when the store is opened
//     (ErrNewerFormat), and a store that another process holds says who holds
//     it (ErrLocked).
//
//  7. Timers of a range come in order of trigger however many there are, at the
//     price of what is returned (D-14).
//
// # Keys
//
// A state key is an encoded key of the computation (schema.AppendKey). Keys of
// one computation are never proper prefixes of each other; their byte order is
// their value order. A list's bounds are prefixes of keys, or whole keys.
//
// # Errors
//
// Errors carry a class, asked for with errors.Is; the class says what to do.
// See the classes. What a caller gets wrong has no class: Commit.Validate.
package store
