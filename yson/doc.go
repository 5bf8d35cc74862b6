// Package yson reads and writes the configuration trees of Rondo: YSON, text and
// binary, and YAML and JSON with the same meaning. [Parse] gives a [Node] tree
// with positions, [Decode] fills Go structs from it strictly, [Encode] and
// [EncodeBinary] write it back in one canonical form.
//
// Nothing is guessed: duplicate keys, unknown fields, values of another type
// and numbers out of range are problems, each with path, line and column, and
// all of them are reported together.
//
// # YSON text
//
//	{ "a" = 1; b = [2u; 3.5; %true; #; "text\n"]; c = <attribute = 1> word; }
//
// Integers are int64, with the suffix u uint64; a number with a point or an
// exponent is a double, as are %nan, %inf and %-inf; # is the entity (null).
// Strings are bytes, quoted with C escapes, or bare words of letters, digits,
// and "_.-%" that begin with a letter or "_". There are no comments: use YAML
// where you want them.
//
// # Binary YSON
//
// Any scalar of the text, and any key, may instead be binary: a mark and the
// value.
//
//	01  string   length as zigzag varint of 32 bits, then the bytes
//	02  int64    zigzag varint
//	03  double   8 bytes, little endian
//	04  %false
//	05  %true
//	06  uint64   varint
//
// Both notations hold every tree; only the sign and payload of a NaN need the
// binary one.
//
// # Decoding
//
// Struct fields are named by tags: `yson:"name,required"`, aliases as
// `yson:"name|other"`. More options: set (a list of strings without
// duplicates) and ignored (on a field named _: known names that have no
// effect, reported by [Decoder.Ignored]). A tag range:">0,<=1" bounds a
// number, duration or size; enum:"a b" lists the words allowed. Fields hold
// their defaults before decoding; types in maps, in lists and behind pointers
// get theirs from [Defaulter].
package yson
