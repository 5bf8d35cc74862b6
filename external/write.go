package external

import (
	"bufio"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
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
	o := &output{path: path, format: format, columns: columns, file: f, sum: crc64.New(crc64.MakeTable(crc64.ECMA))}
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
	err := o.rows.finish()
	err = errors.Join(err, o.buffer.Flush(), o.file.Sync(), o.file.Chmod(0o644))
	info, statErr := o.file.Stat()
	if err = errors.Join(err, statErr); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", o.path, err), o.abandon())
	}
	if err := errors.Join(o.file.Close(), os.Rename(o.file.Name(), o.path)); err != nil {
		return errors.Join(err, os.Remove(o.file.Name()))
	}
	if o.format == FormatParquet {
		return nil
	}
	m := meta{Rows: o.count, Bytes: info.Size(), Checksum: fmt.Sprintf("%016x", o.sum.Sum64()), columns: o.columns}
	data, err := m.encode()
	if err == nil {
		err = replaceFile(o.path+MetaSuffix, data)
	}
	return err
}

// abandon removes what was written.
func (o *output) abandon() error {
	return errors.Join(o.file.Close(), os.Remove(o.file.Name()))
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
