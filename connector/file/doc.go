// Package file reads and writes JSON Lines files.
//
// # Source
//
// The source "file" is one finite file: one partition, whose rows are the lines
// of the file up to its end. Blank lines are passed over; a last line without
// an end is a row. A row is a JSON object. Columns are its fields of the same
// name, in any order; other fields are ignored, a field that comes twice is
// refused, and a column without a field is null, or an error if the column is
// required. Nothing is converted that would lose something: see decoder. Errors
// say file, line, byte and column.
//
// An offset is the position after a line together with checksums of the file's
// beginning and of what lies before the position. With them Open recognises a
// file that was replaced, or cut below what has been read. Lines after the
// offset may have changed: they were not read, and correcting a malformed one is
// how a job that failed at it goes on.
//
// # Sink
//
// The sink "file" appends to one file in the data folder, each message a line.
// The rules are those of D-26: one writer per file, kept by a lock on the file
// itself, so that two sinks or two processes with one path find out; append,
// sync, and only then is the new length recorded; at Open a longer file is cut
// back to the recorded length, and one that is shorter or was not written by
// this sink is an error, never touched.
//
// # JSON and values
//
// Integers keep all 64 bits, doubles are written in the shortest form that reads
// back the same, NaN and the infinities as the strings "NaN", "Infinity" and
// "-Infinity". Bytes that are no UTF-8 are {"$base64": "…"}. An any column holds
// any JSON value. What the sink wrote the source reads back as it was, except
// inside an any column: there a uint64 may come back as the int64 of equal value,
// and bytes in the name of a field that are no UTF-8 become U+FFFD.
package file
