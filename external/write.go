package external

import (
	"bufio"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

// rowWriter writes the rows of a table in their order.
type rowWriter interface {
	write(row schema.Row) error
	finish() error
}

// output is a table that is being written, under another name until it is whole.
type output struct {
	path    string
	format  Format
	columns *schema.Schema
	file    *os.File
	buffer  *bufio.Writer
	rows    rowWriter
	sum     hash.Hash64
	count   int64

	temporary string
	closed    bool
	bytes     int64 // once it is complete
}

// create begins to write a table.
func create(path string, columns *schema.Schema) (*output, error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	o := &output{path: path, format: format, columns: columns, file: f, temporary: f.Name(), sum: crc64.New(crc64.MakeTable(crc64.ECMA))}
	o.buffer = bufio.NewWriterSize(io.MultiWriter(f, o.sum), 256<<10)
	switch format {
	case FormatParquet:
		o.rows, err = newParquetWriter(o.buffer, columns)
	case FormatCSV:
		var e *rowtext.CSVEncoder
		if e, err = rowtext.NewCSVEncoder(columns, ','); err == nil {
			_, err = o.buffer.Write(e.AppendHeader(nil))
			o.rows = &textWriter{out: o.buffer, encoder: e}
		}
	default:
		o.rows = &textWriter{out: o.buffer, encoder: rowtext.NewJSONEncoder(columns)}
	}
	if err != nil {
		return nil, errors.Join(err, o.abandon())
	}
	return o, nil
}

func (o *output) write(row schema.Row) error {
	o.count++
	return o.rows.write(row)
}

// finish puts the table in its place, and its .meta file beside a text.
func (o *output) finish() error {
	for _, step := range o.steps() {
		if err := step(); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", o.path, err), o.abandon())
		}
	}
	return nil
}

// steps are what finishing does, one after the other. Wherever it ends, what is at
// the path has a .meta file that tells of it: that of a new text waits beside the
// former one until the text has come.
func (o *output) steps() []func() error {
	next := o.path + MetaSuffix + nextSuffix
	steps := []func() error{o.complete}
	if o.format != FormatParquet {
		steps = append(steps, func() error { return o.describe(next) })
	}
	steps = append(steps, func() error { return rename(o.temporary, o.path) })
	if o.format != FormatParquet {
		steps = append(steps, func() error { return rename(next, o.path+MetaSuffix) })
	}
	return steps
}

// complete makes the table durable under its temporary name.
func (o *output) complete() error {
	err := errors.Join(o.rows.finish(), o.buffer.Flush(), o.file.Sync(), o.file.Chmod(0o644))
	info, statErr := o.file.Stat()
	if err := errors.Join(err, statErr); err != nil {
		return err
	}
	o.bytes, o.closed = info.Size(), true
	return o.file.Close()
}

// describe writes the .meta file of a text.
func (o *output) describe(path string) error {
	m := meta{Rows: o.count, Bytes: o.bytes, Checksum: fmt.Sprintf("%016x", o.sum.Sum64()), columns: o.columns}
	data, err := m.encode()
	if err != nil {
		return err
	}
	return replaceFile(path, data)
}

// rename gives a file another name, durably.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// abandon removes what has no other name yet.
func (o *output) abandon() (err error) {
	if !o.closed {
		o.closed, err = true, o.file.Close()
	}
	if e := os.Remove(o.temporary); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

type textWriter struct {
	out     *bufio.Writer
	encoder rowtext.Encoder
	line    []byte
}

func (w *textWriter) write(row schema.Row) (err error) {
	if w.line, err = w.encoder.AppendRow(w.line[:0], row); err == nil {
		_, err = w.out.Write(w.line)
	}
	return err
}

func (w *textWriter) finish() error { return nil }
