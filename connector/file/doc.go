// Package file reads and writes files of rows: JSON Lines and CSV, as package
// rowtext has them.
//
// # Source
//
// The source "file" is one file, a pattern of files, or a list of both
// ([SourceParameters]). Each file is a partition, whose key is its path as the
// spec gives it, or relative to the folder of the spec file where it was found by
// a pattern. The files are those that are there when the pipeline starts; they
// are looked for again at the next start.
//
// A row that cannot be read stops the pipeline, with file, line, byte and reason,
// after the rows before it were consumed; it can be corrected and the pipeline
// started again. Or it is passed over and counted, if on_malformed = skip. A CSV
// row whose quotes are malformed, or not closed within max_row_bytes or by the
// end of the file, ends with the line in which it begins, so that a stray quote
// does not take the rows behind it away. So does any row of several lines that is longer than
// max_row_bytes: its further lines are read as rows. What is wrong with the header
// of a CSV file always stops the pipeline.
//
// # Finite files
//
// A finite file is read once, to the end that it has. A last line without an end
// is a row. An offset is the position behind a row together with checksums of the
// file's beginning and of what lies before the position. With them Open
// recognises a file that was replaced, or cut below what has been read, which is
// an error. Rows behind the offset may have changed: they were not read.
//
// # Followed files
//
// A file that is not finite is followed as it grows. It is looked at once per
// poll_interval while there is nothing new. It need not exist yet, but its folder
// must. A line counts when its end is there.
//
// Files that rotate: when a path leads to another file, the old one is read to
// its end, then the new one from its beginning. The old one ends when a later one
// has content; until then its writer may still be writing to it. Of several files
// in between, those count that have the path's name and a number or a date, as
// app.log.1, app.log-20240131 and app-2024-01-31.log have for app.log; files are
// in the order of their last change. Offsets hold the file's number in the file
// system too. With it a restart finds the file of the offset under any name in its
// folder, so that rotation while the pipeline was stopped neither loses nor
// repeats rows as long as the files are there and not compressed. A copy of the
// whole folder is as good as the folder.
//
// Files that are cut and written anew, as copytruncate does: reading begins again
// at the new beginning. Rows that were read are not read again, and rows that were
// not are lost, which the batch tells as a Gap. It is a Gap too if the file of an
// offset is gone; reading goes on at the beginning of the file that is there. What
// cannot be told is a file that was cut, or rotated away and deleted, before the
// first of its rows was read.
//
// A followed file may only be appended to. An editor that saves it makes a new
// file, all of whose rows are read.
//
// # Sink
//
// The sink "file" appends to one file in the data folder ([SinkParameters]), each
// message a row. The rules are those of D-26: one writer per file, kept by a lock
// on the file itself, so that two sinks or two processes with one path find out;
// append, sync, and only then is the new length recorded; at Open a longer file is
// cut back to the recorded length, and one that is shorter or was not written by
// this sink is an error, never touched. Open looks at the beginning of the file and
// at its last recorded bytes only, so it does not notice an edit in between;
// [Written] does. A CSV file begins with a header, so all
// messages of its sink have the same columns.
package file
