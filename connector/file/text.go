package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/rondo-flow/rondo/connector/rowtext"
)

// text is a file as a sequence of rows. It holds a chunk of the file as a
// string, and the strings of rows are parts of it: a chunk is copied once, not
// each value.
type text struct {
	file    *os.File
	decoder rowtext.Decoder
	maxRow  int
	watch   bool // the file may be cut and rewritten under way

	chunk   string
	base    int64 // position of the chunk in the file
	next    int   // where in the chunk the next row begins
	scanned int   // how much from there on the decoder has looked through
	passed  int   // up to where in the chunk trail has seen it
	end     bool  // the chunk reaches to the end of the file
	long    bool  // what begins at next is the rest of a row that is too long
	line    int64 // lines before next
	trail   trail
}

const (
	// chunkSize is how much is read at a time, as long as a row is not longer.
	chunkSize = 256 << 10
	// byteOrderMark is what some programs put before UTF-8 text.
	byteOrderMark = "\uFEFF"
)

var (
	// errLong is that a row is longer than maxRow.
	errLong = errors.New("the row is too long")
	// errRewritten is that what was read last is not in the file any more.
	errRewritten = errors.New("the file was rewritten")
)

// start goes to the beginning of the file.
func (t *text) start(file *os.File) {
	*t = text{file: file, decoder: t.decoder, maxRow: t.maxRow, watch: t.watch}
	t.decoder.Restart()
}

// startAt goes to a place that the file is known to have. The decoder is shown
// the header that stands before it.
func (t *text) startAt(ctx context.Context, file *os.File, m mark) error {
	t.start(file)
	for m.Position > 0 && !t.decoder.Ready() {
		size, ok, err := t.find(ctx, true)
		if err == nil && ok {
			_, err = t.decoder.Decode(t.row(size), nil)
		}
		if err != nil || !ok {
			return errors.Join(err, errOther)
		}
		t.pass(size)
	}
	trail, err := readTrail(file, m.Position)
	t.chunk, t.next, t.passed, t.end = "", 0, 0, false
	t.base, t.line, t.trail = m.Position, m.Line, trail
	return err
}

// find looks for the end of the next row and returns its size. It reports false
// at the end of the file, and before a row that has no end there, unless the
// file is final. The error is errLong for a row that is too long, until drop was
// called for it.
func (t *text) find(ctx context.Context, final bool) (size int, ok bool, err error) {
	for {
		if rest := t.chunk[t.next+t.scanned:]; rest != "" {
			if n := t.scan(rest); n >= 0 {
				return t.found(t.scanned + n)
			}
			t.scanned += len(rest)
		}
		switch {
		case t.scanned > t.maxRow && t.long:
			t.drop()
		case t.scanned > t.maxRow:
			return t.giveUp(t.scanned)
		case t.end && !final:
			return 0, false, nil
		case t.end:
			return t.last()
		}
		if err := t.fill(ctx); err != nil {
			return 0, false, err
		}
	}
}

// scan looks for the end of the next row. One that is too long ends with its line.
func (t *text) scan(rest string) int {
	if t.long {
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			return i + 1
		}
		return -1
	}
	return t.decoder.Scan(rest)
}

// found is the end of find for a row whose end is known.
func (t *text) found(size int) (int, bool, error) {
	if !t.long && t.exceeds(size) {
		return t.giveUp(size)
	}
	t.scanned = 0
	return size, true, nil
}

// last is the end of find for what has no end at the end of the file.
func (t *text) last() (int, bool, error) {
	size := t.scanned
	if t.decoder.GiveUp() && !t.long {
		return t.giveUp(size)
	}
	t.scanned = 0
	return size, size > 0 || t.long, nil
}

// giveUp is the end of find for a row with a quote that nothing closes, as far
// as a row may go. It ends with the line in which it begins, so that one stray
// quote does not take the rows behind it away.
func (t *text) giveUp(size int) (int, bool, error) {
	t.decoder.GiveUp()
	t.scanned = 0
	if size = t.firstLine(size); t.exceeds(size) {
		return 0, false, errLong
	}
	return size, true, nil
}

// firstLine returns how much of a row of a size is its first line.
func (t *text) firstLine(size int) int {
	if i := strings.IndexByte(t.chunk[t.next:t.next+size], '\n'); i >= 0 {
		return i + 1
	}
	return size
}

// exceeds tells whether a row of a size is longer than maxRow.
func (t *text) exceeds(size int) bool {
	return len(strings.TrimSuffix(t.row(size), "\n")) > t.maxRow
}

// drop gives up a row that is too long: what has been read of it is passed, and
// find goes on to its end.
func (t *text) drop() {
	t.long = true
	size := t.scanned
	t.scanned = 0
	t.advance(size)
}

// row returns the text of the next row, of the size that find returned.
func (t *text) row(size int) string {
	row := t.chunk[t.next : t.next+size]
	if t.base == 0 && t.next == 0 {
		row = strings.TrimPrefix(row, byteOrderMark)
	}
	return row
}

// pass goes behind the next row.
func (t *text) pass(size int) {
	t.advance(size)
	t.scanned, t.long = 0, false
}

func (t *text) advance(size int) {
	t.line += int64(strings.Count(t.chunk[t.next:t.next+size], "\n"))
	t.next += size
}

// fill moves the chunk on: what is left of it, and what comes next in the file,
// at least as much again, so that long rows are not copied often.
func (t *text) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.settle()
	rest := t.chunk[t.next:]
	buf := make([]byte, len(rest)+max(chunkSize, len(rest)))
	copy(buf, rest)
	t.base += int64(t.next)
	t.chunk, t.next, t.passed = rest, 0, 0
	n, err := t.file.ReadAt(buf[len(rest):], t.readEnd())
	if err != nil && err != io.EOF {
		return err
	}
	t.end = err == io.EOF
	if n > 0 && t.watch {
		// Only now: what was read before the file was rewritten is of the old one.
		same, err := t.same()
		if err != nil {
			return err
		}
		if !same {
			return errRewritten
		}
	}
	t.chunk = string(buf[:len(rest)+n])
	return nil
}

// readEnd is the position up to which the file was read.
func (t *text) readEnd() int64 { return t.base + int64(len(t.chunk)) }

// same tells whether the file still has what was read last.
func (t *text) same() (bool, error) {
	last := append(bytes.Clone(t.trail.tail), t.chunk[t.passed:]...)
	last = last[max(0, len(last)-tailLength):]
	now := make([]byte, len(last))
	n, err := t.file.ReadAt(now, t.readEnd()-int64(len(last)))
	if err == io.EOF {
		err = nil // it became shorter, or ends here
	}
	return bytes.Equal(last, now[:n]), err
}

// settle shows the trail what was read since the last time.
func (t *text) settle() {
	pass(&t.trail, t.chunk[t.passed:t.next])
	t.passed = t.next
}

// mark returns the place before the next row.
func (t *text) mark() mark {
	t.settle()
	return t.trail.mark(mark{Position: t.base + int64(t.next), Line: t.line})
}
