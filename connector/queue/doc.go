// Package queue reads and writes the durable queues in the store: what one
// pipeline, or one computation, appends, others read in the same order.
//
// A value is a row as a JSON object, in the form of the JSON Lines connector
// (package rowtext), without a line end. It is decoded strictly by the schema of
// the reading stream: columns are the object's fields of the same name, other
// fields are passed over.
//
// # Source
//
// The source "queue", also known as TQueueSource, has a partition for each
// partition of the queue. Rows carry the time at which they were appended as
// their event time, unless the stream assigns another. An offset is the queue's
// id with the offset of the next row, so that a queue which was dropped and made
// anew is not taken for the one that was read. Rows that were trimmed before they
// were read, and those of a queue that is gone, are told as a gap; reading goes on
// at the first row that there is.
//
// How far a consumer has read is stored in the transaction that consumes the
// rows, for people and for trimming (Position).
//
// # Sink
//
// The sink "queue", also known as TSyncQueueSink and TAsyncQueueSink, is part of
// the epoch that emits the message (D-25): its rows appear together with
// everything else that the epoch does, or not at all. The asynchronous one is the
// same under another name.
//
// Which partition a row goes to follows from its content, if the parameters say
// how, and otherwise rows are dealt out in turn. One queue partition keeps the
// order of each writing partition; among several, it has the order of commits
// (D-27).
package queue
