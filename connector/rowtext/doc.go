// Package rowtext reads and writes rows as text: JSON Lines and CSV. Files and
// commands that move rows in and out share it, so that a row looks the same
// wherever it is written.
//
// Nothing is converted that would lose something. A value that its column does
// not take is an error with its place in the row, never another value; the
// bytes of a string column come out as they went in.
//
// # JSON Lines
//
// A row is a JSON object on a line of its own. Columns are its fields of the same
// name, in any order; other fields are ignored, a field that comes twice is
// refused, and a column without a field is null, or an error if the column is
// required. Blank lines are passed over.
//
// Integers keep all 64 bits and are read in any notation that has an integer
// value, 1.5e2 too. Doubles are written in the shortest form that reads back the
// same; NaN and the infinities are the strings "NaN", "Infinity" and
// "-Infinity". Bytes that are no UTF-8 are {"$base64": "…"}. An any column holds
// any JSON value. What the encoder writes the decoder reads back as it was,
// except inside an any column: there a uint64 may come back as the int64 of equal
// value, and bytes in the name of a field that are no UTF-8 become U+FFFD.
//
// # CSV
//
// Rows are what encoding/csv reads: fields between delimiters, in quotes where
// they hold a delimiter, a quote (written twice) or a line end; blank lines are
// passed over, and each row has as many fields as there are names. Unlike there,
// a carriage return inside quotes stays. A header names the columns, in any
// order, or the dialect does; fields that are no column are passed over. Spaces
// and tabs around the names of a header are not part of them. A header must name
// every required column; an optional column that it does not name is null.
//
// A field of nothing is null, except in a string column that is required; a field
// of nothing in quotes is an empty string where the column is a string, and null
// elsewhere. Numbers, booleans and times are what [schema.Type.ParseText] reads,
// an any column holds JSON. String columns take the bytes as they are, UTF-8 or
// not. What the encoder writes the decoder reads back as it was, as with JSON
// Lines.
package rowtext
