// Package datagen makes rows up: the source "datagen", for tests, benchmarks and
// first steps.
//
// A row is a function of the seed, its number and the parameters. So the same
// spec gives the same rows in each run, and a reader that starts again at an
// offset goes on exactly where it was; only when they come depends on the
// clock. Rows are numbered from 0 over all partitions: partition p of n has the
// rows p, p+n, p+2n and so on.
//
// # Columns
//
// Each column has a kind, which says where its values come from:
//
//	key         the key of the row: one of keys.count, uniform or by Zipf's law
//	sequence    the number of the row
//	timestamp   start, and a step later for each row
//	payload     payload_size letters and digits
//	random      any value between min and max, true or false
//	constant    the value that the spec gives
//
// Columns that the spec says nothing about get a kind by their type: date,
// datetime and timestamp columns are timestamps, string, utf8 and any columns are
// payload, all others are random. But the first of them that holds numbers or
// text is the key, unless another column is.
//
// Keys and numbers of rows are numbers in columns of numbers, and in columns of
// text "key" or "row" and the number. They begin again at 0 behind the largest
// value of a narrow type. Timestamps are seconds in columns of integers, and
// RFC 3339 in columns of text.
//
// With a column of timestamps the source has watermarks of its own (use_source_watermark):
// the timestamp of the partition's next row, the least of several columns.
//
// # Rate
//
// With a rate, rows come in equal steps of time, at 10 ms or more from each
// other and as many at once as that takes. What was not taken in time is made up
// for, but never more than one second of it: nothing bursts when a computer wakes
// up.
package datagen
