package external

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"sort"

	"github.com/parquet-go/parquet-go"
	"github.com/rondo-flow/rondo/schema"
)

// parquetTable is a table in Parquet. Where keys lie is told by the statistics of
// the hash column: those of its pages, or of its row groups (KV-51).
type parquetTable struct {
	file     *parquet.File
	columns  *schema.Schema
	places   []int // of the file's columns in the schema
	checksum string
	stretch  []stretch
}

// stretch is a run of rows of which the least hash is known.
type stretch struct {
	least uint64
	first int64 // row, over the whole file
}

// openParquet reads the footer, and of the hash column where its pages begin.
func openParquet(src io.ReaderAt, size int64, hash string) (t *parquetTable, err error) {
	defer recovered(&err) // a broken file must not end the process
	footer, err := readFooter(src, size)
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(blockSize))
	if err != nil {
		return nil, unreadable(err)
	}
	t = &parquetTable{file: f}
	if t.columns, err = columnsOf(f); err != nil {
		return nil, err
	}
	for _, field := range f.Schema().Fields() {
		i, _ := t.columns.Index(field.Name())
		t.places = append(t.places, i)
	}
	// The footer holds the places, sizes and statistics of everything in the file: its
	// checksum is the identity of the table.
	t.checksum = fmt.Sprintf("%016x", crc64.Checksum(footer, crc64.MakeTable(crc64.ECMA)))
	return t, t.survey(hash)
}

// unreadable tells what is wrong with the file from what is wrong with reading it.
func unreadable(err error) error {
	if _, ok := errors.AsType[*readError](err); ok || err == nil {
		return err
	}
	return malformedf("it cannot be read as Parquet: %w: the file may be cut off, or still be written; write it under another name and rename it", err)
}

// recovered turns a panic of the library, which broken files can cause, into an
// error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = malformedf("it cannot be read as Parquet: %v", r)
	}
}

// maxFooter bounds the memory for a footer: in a file that is something else, its
// length can be any number.
const maxFooter = 256 << 20

// readFooter returns the footer, once it is certain that there is one.
func readFooter(src io.ReaderAt, size int64) ([]byte, error) {
	const magic, ends = "PAR1", 8
	var tail [ends]byte
	if size < int64(len(magic)+ends) {
		return nil, unreadable(fmt.Errorf("it has %d bytes", size))
	}
	if _, err := src.ReadAt(tail[:], size-ends); err != nil && err != io.EOF {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(tail[4:]) != magic:
		return nil, unreadable(fmt.Errorf("it does not end with %s", magic))
	case length > min(maxFooter, size-ends-int64(len(magic))):
		return nil, unreadable(fmt.Errorf("its footer would have %d bytes, and the file has %d", length, size))
	}
	footer := make([]byte, length)
	if _, err := src.ReadAt(footer, size-ends-length); err != nil && err != io.EOF {
		return nil, err
	}
	return footer, nil
}

// survey collects the stretches of the hash column. A row group without
// statistics belongs to the stretch before it.
func (t *parquetTable) survey(hash string) error {
	column := -1
	for i, field := range t.file.Schema().Fields() {
		if field.Name() == hash {
			column = i
		}
	}
	if column < 0 {
		return nil // the schema is refused
	}
	first := int64(0)
	for _, g := range t.file.RowGroups() {
		chunk := g.ColumnChunks()[column]
		values, err := chunk.ColumnIndex()
		offsets, err2 := chunk.OffsetIndex()
		if err := errors.Join(err, err2); err == nil {
			for p := range values.NumPages() {
				t.note(values.NullPage(p), values.MinValue(p), first+offsets.FirstRowIndex(p))
			}
		} else if !errors.Is(err, parquet.ErrMissingColumnIndex) && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
			return unreadable(err)
		} else if c, ok := chunk.(*parquet.FileColumnChunk); ok {
			least, _, known := c.Bounds()
			t.note(!known, least, first)
		}
		first += g.NumRows()
	}
	return nil
}

func (t *parquetTable) note(unknown bool, least parquet.Value, first int64) {
	if unknown || least.IsNull() || least.Kind() != parquet.Int64 {
		return
	}
	h := least.Uint64()
	if n := len(t.stretch); n > 0 && t.stretch[n-1].least > h {
		return // statistics that do not ascend are of no use; reading tells why
	}
	t.stretch = append(t.stretch, stretch{h, first})
}

func (t *parquetTable) schema() *schema.Schema { return t.columns }

func (t *parquetTable) rows() int64 { return t.file.NumRows() }

// before returns the row to begin at: the first of the last stretch that has a
// hash below the bound's.
func (t *parquetTable) before(lower string) int64 {
	if lower == "" {
		return 0
	}
	hash, err := schema.KeyHash(lower)
	if err != nil {
		return 0
	}
	i := sort.Search(len(t.stretch), func(i int) bool { return t.stretch[i].least >= hash })
	if i == 0 {
		return 0
	}
	return t.stretch[i-1].first
}

func (t *parquetTable) seek(lower string) (cursor, error) {
	c := &parquetCursor{table: t}
	if err := c.skipTo(t.before(lower)); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (t *parquetTable) skippable(row int64, lower string) bool { return t.before(lower) > row }
