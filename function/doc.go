// Package function has the process functions that Rondo brings along, for
// pipelines without code. Register gives them their names.
//
// # rollup
//
// The function "rollup" keeps aggregates for each key and, at each visit of the
// key, emits them or evicts the key:
//
//	"processing_function_parameters" = {
//	  "aggregates" = {
//	    "flights"     = {"op" = "count"};
//	    "total_delay" = {"op" = "sum"; "column" = "delay"};
//	    "last_flight" = {"op" = "last"; "column" = "date"}};
//	  "on_visit" = {"emit" = "snapshots"; "evict" = {"idle" = "14d"; "emit" = "evicted"}}}
//
// An aggregate is named after the output column that it fills. Its op is one of
//
//	count  messages; with a column, those where the column is not null
//	sum    of the column's values that are not null; null when there is none.
//	       A sum of integers that leaves their 64 bits is an error
//	min    the smallest value that is not null
//	max    the largest value that is not null
//	last   the value, null or not, of the message with the largest event
//	       timestamp; of several such messages, of the one that came last
//
// Every input stream needs the columns of the aggregates, with values of one
// kind.
//
// A visit emits one record: to evict.emit if the key is idle, and then the key's
// states are removed and the counter "evictions" goes up by one; else to emit.
// Either stream may be left out. A key is idle when the event watermark of the
// input, as functions see it (D-15), is more than idle above the largest event
// timestamp of the key's messages. Of several inputs the lowest watermark
// counts; while one of them has none, nothing is idle. A message after the
// eviction begins the key anew.
//
// Records are filled by column name: aggregates, then the columns of the
// group_by_schema, then pass (uint64) and final (boolean) of the visit.
//
// # mirror
//
// The function "mirror" makes a state follow a static table, which a visit stream of
// its computation scans:
//
//	"processing_function_parameters" = {"source" = "/source"; "emit" = "changes"}
//
// The state, /mirror unless state names another one, is a CBOR map of the table's
// columns, those of the key left out; or of the columns that columns lists. A visit
// of a key that the table has makes it what the row says; of one that it does not
// have, removes it; of one of which that is not known, leaves it alone (KV-52). So an
// outage deletes nothing. The counters created, updated, deleted and unknown say how
// often. Each change is emitted to the stream emit, if it is given, whose columns are
// filled by name: change, pass (uint64), those of the key, and the row's.
//
// # expire
//
// The function "expire" removes rows of an external state, which a visit stream of its
// computation scans, by the age of a column:
//
//	"processing_function_parameters" = {"table" = "/accounts"; "column" = "last_seen"; "max_age" = "30d"}
//
// A row is removed when the time in the column is more than max_age before the visit,
// or before the time as_of. The column is a timestamp, datetime or date, or an integer
// of seconds since 1970. A row without a time stays, as does one from the future. The
// counters expired, kept and undated say how often. What is removed is emitted to the
// stream emit, if it is given, whose columns are filled by name: those of the row, and
// pass (uint64).
package function
