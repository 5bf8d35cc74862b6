package connector

import (
	"context"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Setup is what factories get.
type Setup struct {
	// Computation and Name say whose source stream or sink it is.
	Computation, Name string
	Parameters        flow.Parameters
	// Schema is the stream that a source emits. Streams are the schemas of a
	// sink's inputs, by stream id.
	Schema  *schema.Schema
	Streams flow.Streams
	// SpecDir is the folder of the spec file, which source paths are relative
	// to; DataDir is the pipeline's data folder, which sink paths are relative
	// to. Its folder "store" is the store's, where no sink writes.
	SpecDir, DataDir string
}

// SourceFactory checks the parameters and makes a source, without reading.
type SourceFactory func(Setup) (Source, error)

// Source is one source stream.
type Source interface {
	// Partitions returns the keys of the source's partitions, at least one. An
	// error here (a missing file) is shown before anything is changed.
	Partitions(ctx context.Context) ([]string, error)
	// Open starts reading a partition at an offset that a reader gave out; nil
	// is the start.
	Open(ctx context.Context, partition string, offset []byte) (Reader, error)
}

// Reader reads one partition. It is used by one goroutine.
type Reader interface {
	// Read returns the next rows, at most max; it waits until there is at least
	// one, the batch tells something else (Watermark, Skipped, Gap, End), or ctx is done. An
	// error fails the job, which opens a new reader at the last committed offset;
	// one that is [ErrMalformed] stops the pipeline.
	Read(ctx context.Context, max Limit) (Batch, error)
	// Close releases what the reader holds. It is called once, after the last
	// Read returned.
	Close() error
}

// Local is a source whose partitions lie on machines. Of several workers, one that has
// a partition reads it.
type Local interface {
	// Look tells whether a partition can be read on this machine. One that may still
	// appear is not there, without an error; any other error says what is wrong.
	Look(partition string) (there bool, err error)
}

// Watermarked is a source that may know how far its partitions have come in event time
// (use_source_watermark).
type Watermarked interface {
	// Watermarked tells that every batch has a Watermark.
	Watermarked() bool
}

// Limit bounds a batch. A single row may exceed Bytes.
type Limit struct{ Rows, Bytes int }

// Batch is what one Read returns.
type Batch struct {
	// Rows have the schema's columns; EventTimestamps is nil or parallel to
	// Rows, for sources that know event times.
	Rows            []schema.Row
	EventTimestamps []flow.Time
	// Watermark is an event time that no later row of the partition is before, if the
	// source is Watermarked. A batch may bring nothing else.
	Watermark flow.Time
	// Bytes is the size of the rows as read.
	Bytes int
	// Offset is the place after the last row. It is opaque to the engine.
	Offset []byte
	// Skipped is how many malformed rows were passed over since the batch before,
	// for sources that are told to; SkippedFirst says what and where the first of
	// them was. They are consumed when Offset is reached.
	Skipped      int
	SkippedFirst error
	// Explain adds the place of row i of Rows to why, for rows that can be read
	// and not be used: their key or event time cannot be computed. They are
	// malformed too: PassOver tells that they are passed over and counted as
	// those are, otherwise the pipeline stops. Explain is nil where the source
	// knows no places; it may be called when the reader has read on.
	Explain  func(i int, why error) error
	PassOver bool
	// Gap says, for people, that rows behind the offset before this batch are
	// gone, and which: the rows of this batch do not follow those that the offset
	// promised. A number of rows counted from that offset means nothing any more.
	// It is empty where nothing is missing, and a batch with a Gap has no rows.
	Gap string
	// End tells that a finite partition has no more rows, ever. The batch may
	// hold the last rows.
	End bool
}

// SinkFactory checks the parameters and makes a sink, without writing.
type SinkFactory func(Setup) (Sink, error)

// Sink is one sink outside the store.
type Sink interface {
	// Open cuts what lies beyond position back and returns a writer, with the
	// position that is to be stored before anything is written. position is nil
	// on the first Open. A target that is shorter than position, or was not
	// written by this sink, is an error that says so.
	Open(ctx context.Context, position []byte) (w Writer, start []byte, err error)
}

// Parted is a sink that can write in parts. Where several processes run a pipeline,
// each writer has a part of its own, so that what one of them writes too late goes
// where nobody reads (D-26).
type Parted interface {
	// OpenPart returns the writer of a new part, whose name no other ever had, and
	// where it starts. Nothing is written before the first message is. former is
	// the position that is stored, of whatever writer, nil if there is none: what
	// lies beyond it is removed, if it can be reached from here.
	OpenPart(ctx context.Context, name string, former []byte) (w Writer, start []byte, err error)
	// Part tells which part a position is of, "" for the target of Open, and
	// whether it says that anything was written.
	Part(position []byte) (name string, written bool, err error)
}

// Targeted is a sink that can tell where it writes, so that a second one with the
// same target is refused at submit: a file has one writer (D-26).
type Targeted interface {
	// Target names the place, the same for all sinks that write there.
	Target() string
}

// Writer writes one sink. It is used by one goroutine, and there is one at a
// time.
type Writer interface {
	// Write appends the messages in order, makes them durable, and returns the
	// position after them. After an error the writer is closed and the sink
	// opened again.
	Write(ctx context.Context, messages []flow.Message) (position []byte, err error)
	// Close releases what the writer holds. It is called once, after the last
	// Write returned, and leaves what is not recorded to the next Open.
	Close() error
}
