// Package pebblestore is the contract of package store on Pebble: one database
// per data folder, one batch per commit, the log synced once for all commits
// that wait at the same time.
//
// # The folder
//
// Beside Pebble's own files the folder has two of ours: "rondo.format" names
// the version of the layout and is checked before anything is opened or
// changed; "rondo.owner" says which process holds the folder. The format file
// comes first: a folder with other files and without it is refused, and so is
// one with it in which a database was made but cannot be found. Hazard: Pebble
// would begin a new database in either, and remove what it does not know.
//
// What counts for holding the folder is Pebble's file lock, which the system
// releases when a process dies: the owner file only gives it a name, and a stale
// one blocks nobody.
//
// # Keys and values
//
// A key begins with a byte for the kind of row (keys.go); a value is a
// sequence of fields (value.go). Computations are numbered, so that a state key
// is 's', the number, the encoded key, a zero byte and the name. Names have no
// zero byte, so the last one separates them; and since encoded keys are never
// prefixes of each other, rows sort by key, then name.
//
// A timer has two rows: one in its slot, where timers lie in order of trigger, and
// an empty one under its key. A range is merged from its slots by one iterator
// that reads each slot only as far as its rows can still be among the first.
//
// An inbox row is written once and removed once, in whole, and its key is never
// used again: numbers grow within a generation, and generations are unique
// (D-1, D-7). It is therefore removed by Pebble's SingleDelete, which annihilates
// the row where they meet, mostly in the same memtable: rows that are consumed
// soon never reach a table file, and leave no tombstone to be read over. Hazard:
// a row that were written twice under one key could come back after such a
// delete; Commit refuses numbers that do not grow. The consumed prefix is
// written many times, so it is a row of its own, deleted in the ordinary way.
//
// A queue is a name, a number that is never used again, and for each partition a
// head: which offsets it holds and the bytes of their values. Heads are kept in
// memory too, so that giving out offsets reads nothing, and a reader that waits
// at the end costs nothing. Each row says how many bytes were appended before
// it; trimming is one range deletion, and knows from the first row that it keeps
// how much it removes.
//
// A table is a name and a number that is never used again; a row is its number, the
// encoded key and a zero byte, and is listed and looked up as states are.
//
// # Locks and fencing
//
// Each partition has a lock, held by RaiseGeneration and by Commit until its
// sync is over; the generation is compared under it (D-2). No other lock is
// held over a sync, except the catalog's by its rare transactions, which take
// it after a partition's. The locks of tables come next, in order of their numbers,
// so that nobody writes a row between its being compared and its being written; the
// lock of a queue partition comes last, in key order (D-25). They go as soon as the
// batch has its place in the log: the next one comes later in the log, so offsets
// and log agree, and writers of one queue or table share their syncs. Readers take
// no lock and see every commit that was applied, also one whose sync is still going
// on: what a commit builds on it comes later in the same log, so it is never durable
// without it.
//
// # When the disk fails
//
// After the first failed write nobody knows what the disk holds, and Pebble
// gives up. The store then stops: every call fails with ErrUnavailable and says
// why, commits that were under way with ErrUnknownOutcome. From that moment on
// nothing reaches the disk any more (freezer), so that the folder is as a crash
// would have left it, and opening it again gives every acknowledged commit.
// Corrupt bytes stop the store in the same way, with ErrCorrupt. Hazard: Pebble
// may meet them first in a compaction, whose iterator panics on some of them in
// a goroutine of Pebble's, where nobody else can recover. The process then ends
// instead of the store, as in a crash, and may do so again at the next start:
// the table that was damaged has to come from a copy.
package pebblestore
