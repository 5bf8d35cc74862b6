package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

// reader reads one partition: one file to its end or, if it follows, a path and
// the files that are found there one after the other.
type reader struct {
	text
	name   string // of the file, for errors
	width  int    // columns of a row
	skip   bool   // malformed rows are passed over
	final  bool   // there is nothing behind the end of the file
	follow *follower

	tooLong error  // the row that is being dropped
	gap     string // to be told before anything else is read
	failure error
	values  []schema.Value // for the next rows
	lines   []int64        // of the rows of the batch in hand
}

// errFull ends a batch before something that the next one has to begin with.
var errFull = errors.New("the batch is full")

// Read returns the next rows. Rows before a malformed one are returned first, so
// that a job gets as far as the file is good.
func (r *reader) Read(ctx context.Context, max connector.Limit) (connector.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return connector.Batch{}, err
		}
		if r.gap != "" {
			b := connector.Batch{Gap: r.gap, Offset: r.offset()}
			r.gap = ""
			return b, nil
		}
		b, err := r.batch(ctx, max)
		switch {
		case len(b.Rows)+b.Skipped > 0 || err == io.EOF && r.follow == nil:
			b.End = err == io.EOF && r.follow == nil
			b.Offset = r.offset()
			return b, nil
		case err == io.EOF:
			err = r.goOn(ctx)
		case err == errFull:
			err = nil
		}
		if err != nil {
			return connector.Batch{}, err
		}
	}
}

// goOn goes to what follows the end of what there was, or waits for it.
func (r *reader) goOn(ctx context.Context) error {
	moved, err := r.follow.advance(r)
	if moved || err != nil {
		return err
	}
	t := time.NewTimer(r.follow.interval)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// batch returns the rows that there are. The error is io.EOF at the end of the
// file; it comes along with the rows before it.
func (r *reader) batch(ctx context.Context, max connector.Limit) (b connector.Batch, err error) {
	r.lines = nil // the former batch keeps its own
	for err == nil && (len(b.Rows)+b.Skipped == 0 || len(b.Rows)+b.Skipped < max.Rows && b.Bytes < max.Bytes) {
		if err = r.failure; err == nil {
			err = r.readRow(ctx, &b)
		}
		if errors.Is(err, connector.ErrMalformed) {
			r.failure = err
		}
	}
	r.describe(&b)
	return b, err
}

// describe says where the rows of a batch lie.
func (r *reader) describe(b *connector.Batch) {
	name, lines, skip := r.name, r.lines, r.skip
	b.PassOver = skip
	b.Explain = func(i int, why error) error {
		if !skip {
			why = fmt.Errorf("%w: correct the row, or pass over such rows with on_malformed = skip", why)
		}
		return fmt.Errorf("%s:%d: %w", name, lines[i], why)
	}
}

// readRow adds the next row to the batch. After an error it has not been passed.
func (r *reader) readRow(ctx context.Context, b *connector.Batch) error {
	if r.file == nil {
		return io.EOF
	}
	size, ok, err := r.find(ctx, r.final)
	switch {
	case errors.Is(err, errLong):
		return r.refuseLong(b)
	case errors.Is(err, errRewritten):
		if len(b.Rows)+b.Skipped == 0 {
			r.follow.restart(r)
		}
		return errFull
	case err != nil:
		return err
	case !ok:
		return io.EOF
	}
	if r.long {
		r.skipRow(b, r.tooLong)
	} else if size, err = r.decode(b, size); err != nil {
		return err
	}
	b.Bytes += size
	r.pass(size)
	return nil
}

// decode adds the row of a size to the batch, or passes it over. It returns how
// much of it is done with: less if its quotes are malformed.
func (r *reader) decode(b *connector.Batch, size int) (int, error) {
	row, text := r.newRow(), r.row(size)
	is, err := r.decoder.Decode(text, row)
	switch {
	case err != nil:
		clear(row)
		e, ok := errors.AsType[*rowtext.Error](err)
		if err = r.explain(text, err); !r.skip || ok && e.Header {
			return 0, err
		}
		r.skipRow(b, err)
		if ok && e.Quotes {
			size = r.firstLine(size)
		}
	case is:
		b.Rows = append(b.Rows, row)
		r.lines = append(r.lines, r.line+1)
		r.values = r.values[len(row):]
	}
	return size, nil
}

func (r *reader) skipRow(b *connector.Batch, why error) {
	if b.Skipped == 0 {
		b.SkippedFirst = why
	}
	b.Skipped++
}

// refuseLong fails, or begins to drop the row. A row is dropped piece by piece,
// and there is no offset inside it: what the batch has goes first.
func (r *reader) refuseLong(b *connector.Batch) error {
	err := r.explain("", fmt.Errorf("the row is longer than max_row_bytes = %d", r.maxRow))
	switch {
	case !r.skip:
		return err
	case len(b.Rows)+b.Skipped > 0:
		return errFull
	}
	r.tooLong = err
	r.drop()
	return nil
}

// explain names file, line and byte of what is malformed in the next row.
func (r *reader) explain(row string, err error) error {
	line, column := r.line+1, 1
	if e, ok := errors.AsType[*rowtext.Error](err); ok {
		before := row[:e.Offset]
		line += int64(strings.Count(before, "\n"))
		column, err = e.Offset-strings.LastIndexByte(before, '\n'), e.Err
	}
	return connector.Malformed(fmt.Errorf("%s:%d:%d: %w", r.name, line, column, err))
}

// newRow returns a row of nulls. Rows are cut from a larger piece: there are
// many, and they live and die together.
func (r *reader) newRow() schema.Row {
	const rows = 256
	if len(r.values) < r.width {
		r.values = make([]schema.Value, rows*r.width)
	}
	return r.values[:r.width:r.width]
}

// offset is the place before the next row.
func (r *reader) offset() []byte {
	m := r.mark()
	if r.follow != nil {
		m.Node = r.follow.node
	}
	return m.encode()
}

// Close closes the file.
func (r *reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
