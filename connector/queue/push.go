package queue

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store"
)

// PushOptions say where lines go. Zero values are the defaults.
type PushOptions struct {
	// Queue is the name of the queue, which is made if it is not there.
	Queue string
	// Partitions is how many partitions it has: one, if it is made, or as many as
	// it has.
	Partitions int
	// By names fields: lines with equal values go to the same partition, the one
	// that the sink's partition_by would choose. Lines are dealt out in turn if
	// there are none, first to where the fewest rows were appended.
	By []string
	// MaxRowBytes bounds a line, 64 MiB.
	MaxRowBytes int
	// Now is the clock that rows get their times from. It has to be given.
	Now func() time.Time
}

// Pushed says what a push has done.
type Pushed struct {
	Rows  int
	Bytes int64 // of values
	Lines int   // read, blank ones too
	// Unknown rows more were sent when the outcome of that was lost: they are all
	// in the queue or none is.
	Unknown int
}

const (
	pushRows      = 1000
	pushBytes     = 1 << 20
	byteOrderMark = "\uFEFF"
)

// Push appends lines of text to a queue, each a JSON object; blank ones are
// passed over. What is at hand is appended together, so that lines of a slow
// writer do not wait for more. At an error it stops: the lines before the faulty
// one are in the queue, as Pushed says.
func Push(ctx context.Context, s store.Queues, lines io.Reader, o PushOptions) (Pushed, error) {
	if o.MaxRowBytes == 0 {
		o.MaxRowBytes = 64 << 20
	}
	if o.Now == nil {
		return Pushed{}, errors.New("a push needs a clock")
	}
	if err := store.ValidateQueue(o.Queue, cmp.Or(o.Partitions, 1)); err != nil {
		return Pushed{}, err
	}
	key, err := newFieldKey(o.By)
	if err != nil {
		return Pushed{}, err
	}
	q, err := ensure(ctx, s, o.Queue, o.Partitions)
	if err != nil {
		return Pushed{}, err
	}
	p := &pusher{queues: s, options: o, in: bufio.NewReaderSize(lines, pushBytes), key: key, partitions: len(q.Partitions)}
	for i, part := range q.Partitions {
		if part.Next < q.Partitions[p.turn].Next {
			p.turn = i
		}
	}
	err = p.run(ctx)
	return p.done, err
}

type pusher struct {
	queues     store.Queues
	options    PushOptions
	in         *bufio.Reader
	key        *fieldKey
	partitions int
	turn       int
	done       Pushed
	rows       []store.QueueAppend
	bytes      int64
}

func (p *pusher) run(ctx context.Context) error {
	for {
		line, err := p.line()
		if err == nil && len(line) > 0 {
			err = p.add(line)
		}
		if err == nil && len(p.rows) < pushRows && p.bytes < pushBytes && p.atHand() {
			continue
		}
		if flushed := p.flush(ctx); flushed != nil {
			return flushed
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w; the lines before it are in the queue: %s", p.done.Lines, err, plural(p.done.Rows, "row"))
		}
	}
}

// atHand tells whether a whole line can be had without waiting.
func (p *pusher) atHand() bool {
	there, _ := p.in.Peek(p.in.Buffered()) // no error: it is there
	return bytes.IndexByte(there, '\n') >= 0
}

// line returns the next line without white space around it; io.EOF when there is
// none.
func (p *pusher) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) == 0 && err != nil:
			return nil, err
		case len(bytes.TrimSuffix(line, []byte("\n"))) > p.options.MaxRowBytes:
			p.done.Lines++
			return nil, connector.Malformed(fmt.Errorf("the line has more than %d bytes", p.options.MaxRowBytes))
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		p.done.Lines++
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if p.done.Lines == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		return bytes.TrimSpace(line), nil // a last line may lack its end
	}
}

func (p *pusher) add(line []byte) error {
	partition := p.turn
	hash, err := p.key.hash(string(line))
	if err != nil {
		return err
	}
	if len(p.options.By) > 0 {
		partition = place(hash, p.partitions)
	} else {
		p.turn = (p.turn + 1) % p.partitions
	}
	p.rows = append(p.rows, store.QueueAppend{
		Queue: p.options.Queue, Partition: partition, Time: p.options.Now().UnixNano(), Value: line,
	})
	p.bytes += int64(len(line))
	return nil
}

func (p *pusher) flush(ctx context.Context) error {
	if len(p.rows) == 0 {
		return nil
	}
	if err := p.queues.PushQueue(ctx, p.rows); err != nil {
		if errors.Is(err, store.ErrUnknownOutcome) {
			p.done.Unknown = len(p.rows)
		}
		return fmt.Errorf("push to queue %s after %s: %w", p.options.Queue, plural(p.done.Rows, "row"), err)
	}
	p.done.Rows += len(p.rows)
	p.done.Bytes += p.bytes
	clear(p.rows)
	p.rows, p.bytes = p.rows[:0], 0
	return nil
}
