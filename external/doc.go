// Package external reads static tables, files in Parquet, CSV or JSON Lines that
// are sorted by the key of a computation, or tables in the store, and lets visit
// streams scan them beside the state (KV-51 to KV-55). [Sort] makes such files.
//
// A [Joiner] is a table as one computation joins it; a [Scan] lists it for one
// partition. What a table does not answer for certain is never an absence: it is
// an error or unknown.
//
// # Decisions
//
// Where the rules leave a choice, this package decides as follows.
//
//   - The columns of the key are found by their names; where they stand among the
//     others does not matter. string and utf8 count as one type.
//   - Keys may not hold nulls at all.
//   - A cursor has to begin before the slice that it serves, or at the first row of
//     the table. So statistics that are wrong are an error, and not a gap.
//   - A text must end with the end of a line: one that was cut off nearly never does.
//   - The identity is looked up before a slice too. A table replaced between two
//     slices makes none unknown: each is of one version. A list of a table in the store
//     fails if that was dropped or replaced by its end, so it is looked up once.
//   - A file that was only touched or copied is the same version if it has a checksum.
//   - A table that is malformed is not read read_attempts times: nothing would change.
//   - A table in the store is known by its id: another one in its place is another
//     version, while rows that are written one by one are not. So they are not read
//     ahead, and its rows are counted when it is opened.
//   - The number of rows at the last completed pass lies in the data folder, since it
//     says something about the table rather than about state.
package external
