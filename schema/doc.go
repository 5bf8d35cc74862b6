// Package schema describes the rows that flow through a pipeline: column
// types, values, schemas, the compact row codec used for messages, the
// order-preserving key codec used for state, and column expressions such as
// farm_hash(origin, destination).
//
// A [Value] has a physical [Kind]; a [Column] has a logical [Type] which
// narrows it (an int8 column holds int64 values from -128 to 127, a timestamp
// column holds uint64 microseconds). [Schema.Check] is the only place where
// the two are compared; codecs know kinds alone. Null is a value, which columns
// that are not required may have, and no type.
//
// # Key codec
//
// An encoded key is the concatenation of its columns, each with a leading tag
// byte, so that byte order is value order ([Compare] column by column), a key
// that is a prefix of another sorts first, and the encodings of keys with the
// same number of columns are never prefixes of each other:
//
//	null     01
//	int64    02, 8 bytes big endian, sign bit flipped
//	uint64   03, 8 bytes big endian
//	double   04, 8 bytes big endian, sign flipped, negatives inverted
//	boolean  05 00 or 05 01
//	string   06, bytes with 00 written as 00 FF, then 00 01
//	any      07, as string (schemas refuse such key columns)
//
// Doubles: -0 is written as +0, and every NaN as one NaN that sorts after
// +infinity; [Compare] agrees. This is the one place where a value does not
// come out bit for bit as it went in.
//
// # Time columns
//
// date, datetime, timestamp and interval hold days, seconds, microseconds and
// signed microseconds since 1970, the units that companions see on the wire.
// They are data: the event and system timestamps of messages are nanoseconds.
package schema
