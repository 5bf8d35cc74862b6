package external

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/rondo-flow/rondo/schema"
)

// record is a row on its way: its key, its number in the input, and what
// schema.AppendRow makes of it.
type sortRecord struct {
	key    []byte
	number int64
	row    []byte
}

// memory holds records until they are sorted: their bytes in pieces, so that they
// never move, and where each begins.
type memory struct {
	limit  int64
	pieces [][]byte
	used   int64
	refs   []ref
	row    []byte
}

// ref is a record in memory.
type ref struct {
	piece, at, key, row uint32
	number              int64
}

const (
	pieceBytes = 256 << 10
	refBytes   = 24
)

// newMemory makes one of a share of the bytes there are: the garbage collector,
// buffers and the table that is written need the rest.
func newMemory(bytes int64) *memory { return &memory{limit: bytes / 2} }

// add takes a record; false if there is no room.
func (m *memory) add(key string, number int64, row schema.Row) bool {
	m.row = schema.AppendRow(m.row[:0], row)
	size := len(key) + len(m.row)
	if m.used+int64(size)+refBytes > m.limit && len(m.refs) > 0 || int64(size)+refBytes > m.limit {
		return false
	}
	// A slice that grows is there twice for a moment, so places for records are
	// counted as they are given out, and doubled.
	n := len(m.pieces) - 1
	if n < 0 || len(m.pieces[n])+size > cap(m.pieces[n]) {
		m.pieces = append(m.pieces, make([]byte, 0, max(pieceBytes, size)))
		n++
	}
	p := m.pieces[n]
	at := len(p)
	p = append(append(p, key...), m.row...)
	m.pieces[n] = p
	m.refs = append(m.refs, ref{uint32(n), uint32(at), uint32(len(key)), uint32(len(m.row)), number})
	m.used += int64(size) + 2*refBytes
	return true
}

func (m *memory) key(r *ref) []byte { return m.pieces[r.piece][r.at : r.at+r.key] }

// sort puts the records in the order of keys.
func (m *memory) sort() {
	slices.SortFunc(m.refs, func(a, b ref) int { return bytes.Compare(m.key(&a), m.key(&b)) })
}

func (m *memory) record(i int) sortRecord {
	r := &m.refs[i]
	p := m.pieces[r.piece]
	return sortRecord{m.key(r), r.number, p[r.at+r.key : r.at+r.key+r.row]}
}

func (m *memory) reset() { m.pieces, m.refs, m.used = nil, m.refs[:0], 0 }

// runWriter writes records to a file, in order.
type runWriter struct {
	file *os.File
	out  *bufio.Writer
	head []byte
}

func newRunWriter(path string) (*runWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &runWriter{file: f, out: bufio.NewWriterSize(f, runBuffer)}, nil
}

const runBuffer = 128 << 10

func (w *runWriter) write(r sortRecord) error {
	w.head = binary.AppendUvarint(w.head[:0], uint64(r.number))
	w.head = binary.AppendUvarint(w.head, uint64(len(r.key)))
	w.head = binary.AppendUvarint(w.head, uint64(len(r.row)))
	for _, part := range [][]byte{w.head, r.key, r.row} {
		if _, err := w.out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *runWriter) finish() error { return errors.Join(w.out.Flush(), w.file.Close()) }

// runReader reads them back.
type runReader struct {
	file *os.File
	in   *bufio.Reader
	data []byte
}

func openRun(path string) (*runReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &runReader{file: f, in: bufio.NewReaderSize(f, runBuffer)}, nil
}

// next returns the next record, which is good until the next call; io.EOF behind
// the last.
func (r *runReader) next() (out sortRecord, err error) {
	var head [3]uint64
	for i := range head {
		if head[i], err = binary.ReadUvarint(r.in); err != nil {
			if err == io.EOF && i > 0 {
				err = io.ErrUnexpectedEOF
			}
			return out, err
		}
	}
	size := int(head[1] + head[2])
	r.data = slices.Grow(r.data[:0], size)[:size]
	if _, err := io.ReadFull(r.in, r.data); err != nil {
		return out, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return sortRecord{r.data[:head[1]], int64(head[0]), r.data[head[1]:]}, nil
}

func (r *runReader) close() error { return r.file.Close() }
