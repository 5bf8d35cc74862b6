package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

// reader reads the lines of one file. It holds a chunk of the file as a string,
// and the strings of rows are parts of it: a chunk is copied once, not each
// value.
type reader struct {
	file    *os.File
	name    string
	decoder rowtext.Decoder
	maxRow  int
	width   int // columns of a row

	chunk   string
	base    int64 // position of the chunk in the file
	next    int   // where in the chunk the next line begins
	passed  int   // up to where in the chunk trail has seen it
	end     bool  // the chunk reaches to the end of the file
	line    int64 // lines before next
	trail   trail
	failure error
	values  []schema.Value // for the next rows
}

// chunkSize is how much is read at a time, as long as a line is not longer.
const chunkSize = 256 << 10

// byteOrderMark is what some programs put before UTF-8 text.
const byteOrderMark = "\uFEFF"

// resume goes to the place of an offset.
func (r *reader) resume(offset []byte, size int64) error {
	m, err := decodeMark(offset)
	if err != nil {
		return err
	}
	switch err := m.check(r.file, size); {
	case errors.Is(err, errShort):
		return connector.Malformed(fmt.Errorf("%w: it has %d bytes, and %d of it were read: put the file back as it was, or start over with an empty data folder", err, size, m.Position))
	case errors.Is(err, errOther):
		return connector.Malformed(fmt.Errorf("%w, in what was read already (up to line %d): put the file back as it was, or start over with an empty data folder", err, m.Line))
	case err != nil:
		return err
	}
	r.base, r.line = m.Position, m.Line
	r.trail, err = readTrail(r.file, m.Position)
	return err
}

// Read returns the next rows. Rows before a malformed line are returned first,
// so that a job gets as far as the file is good.
func (r *reader) Read(ctx context.Context, max connector.Limit) (connector.Batch, error) {
	if err := ctx.Err(); err != nil {
		return connector.Batch{}, err
	}
	var b connector.Batch
	for r.failure == nil && !b.End && (len(b.Rows) == 0 || len(b.Rows) < max.Rows && b.Bytes < max.Bytes) {
		r.failure = r.readRow(&b)
	}
	if len(b.Rows) == 0 && r.failure != nil {
		return connector.Batch{}, r.failure
	}
	b.Offset = r.offset()
	return b, nil
}

// readRow adds the row of the next line to the batch, or the end of the file.
// After an error the line has not been passed.
func (r *reader) readRow(b *connector.Batch) error {
	line, size, err := r.nextLine()
	if err != nil {
		return err
	}
	if size == 0 {
		b.End = true
		return nil
	}
	row := r.newRow()
	is, err := r.decoder.Decode(line, row)
	if err != nil {
		return r.explain(err)
	}
	if is {
		b.Rows = append(b.Rows, row)
	}
	b.Bytes += size
	r.next += size
	r.line++
	return nil
}

// explain names file, line and byte of what is malformed in the next line.
func (r *reader) explain(err error) error {
	column := 1
	var m *rowtext.Error
	if errors.As(err, &m) {
		column, err = m.Offset+1, m.Err
	}
	return connector.Malformed(fmt.Errorf("%s:%d:%d: %w", r.name, r.line+1, column, err))
}

// nextLine returns the next line without its end, and its size with it; 0 at
// the end of the file.
func (r *reader) nextLine() (line string, size int, err error) {
	for {
		rest := r.chunk[r.next:]
		end := strings.IndexByte(rest, '\n')
		size = end + 1
		if end < 0 && r.end {
			end, size = len(rest), len(rest)
		}
		switch {
		case end > r.maxRow || end < 0 && len(rest) > r.maxRow:
			return "", 0, r.explain(fmt.Errorf("the line is longer than max_row_bytes = %d", r.maxRow))
		case end >= 0:
			line = rest[:end]
			if r.base == 0 && r.next == 0 {
				line = strings.TrimPrefix(line, byteOrderMark)
			}
			return line, size, nil
		}
		if err := r.fill(); err != nil {
			return "", 0, err
		}
	}
}

// fill moves the chunk on: what is left of it, and what comes next in the file,
// at least as much again, so that long lines are not copied often.
func (r *reader) fill() error {
	r.settle()
	rest := r.chunk[r.next:]
	buf := make([]byte, len(rest)+max(chunkSize, len(rest)))
	copy(buf, rest)
	r.base += int64(r.next)
	n, err := r.file.ReadAt(buf[len(rest):], r.base+int64(len(rest)))
	if err != nil && err != io.EOF {
		return err
	}
	r.end = err == io.EOF
	r.chunk, r.next, r.passed = string(buf[:len(rest)+n]), 0, 0
	return nil
}

// settle shows the trail what was read since the last time.
func (r *reader) settle() {
	pass(&r.trail, r.chunk[r.passed:r.next])
	r.passed = r.next
}

func (r *reader) offset() []byte {
	r.settle()
	return r.trail.mark(mark{Position: r.base + int64(r.next), Line: r.line}).encode()
}

// newRow returns a row of nulls. Rows are cut from a larger piece: there are
// many, and they live and die together.
func (r *reader) newRow() schema.Row {
	const rows = 256
	n := r.width
	if len(r.values) < n {
		r.values = make([]schema.Value, rows*n)
	}
	row := r.values[:n:n]
	r.values = r.values[n:]
	return row
}

func (r *reader) Close() error { return r.file.Close() }
