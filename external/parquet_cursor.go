package external

import (
	"context"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/rondo-flow/rondo/schema"
)

// parquetCursor reads rows of a Parquet file, a few at a time.
type parquetCursor struct {
	table *parquetTable
	group int // the row group in hand
	rows  parquet.Rows
	row   int64 // rows before the next one
	batch []parquet.Row
	ready []parquet.Row // of batch, not returned
}

// batchRows is how many rows are decoded at a time.
const batchRows = 64

// skipTo goes to a row of the file.
func (c *parquetCursor) skipTo(row int64) (err error) {
	defer recovered(&err)
	c.row = row
	groups := c.table.file.RowGroups()
	for c.group < len(groups) && row >= groups[c.group].NumRows() {
		row -= groups[c.group].NumRows()
		c.group++
	}
	if c.group == len(groups) {
		return nil
	}
	c.rows, err = openRows(groups[c.group])
	if err == nil && row > 0 {
		err = unreadable(c.rows.SeekToRow(row))
	}
	return err
}

// openRows begins to read a row group. The places of all its pages are read first:
// without them every page before a row would be read to find it.
func openRows(g parquet.RowGroup) (parquet.Rows, error) {
	for _, chunk := range g.ColumnChunks() {
		if _, err := chunk.OffsetIndex(); err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
			return nil, unreadable(err)
		}
	}
	return g.Rows(), nil
}

// next implements cursor.
func (c *parquetCursor) next(ctx context.Context) (schema.Row, place, error) {
	for len(c.ready) == 0 {
		if err := ctx.Err(); err != nil {
			return nil, place{}, err
		}
		if err := c.fill(); err != nil {
			return nil, place{}, err
		}
	}
	c.row++
	at := place{row: c.row}
	row, err := c.table.translate(c.ready[0])
	c.ready = c.ready[1:]
	if err != nil {
		return nil, at, malformedf("%s: %w", at, err)
	}
	return row, at, nil
}

// fill decodes the next rows. An answer of none is not the end.
func (c *parquetCursor) fill() (err error) {
	defer recovered(&err)
	if c.rows == nil {
		return c.end()
	}
	if c.batch == nil {
		c.batch = make([]parquet.Row, batchRows)
	}
	n, err := c.rows.ReadRows(c.batch)
	c.ready = c.batch[:n]
	switch {
	case err == io.EOF && n == 0:
		return c.nextGroup()
	case err == io.EOF:
		return nil // it is told again
	case err != nil:
		return unreadable(err)
	default:
		return nil
	}
}

func (c *parquetCursor) nextGroup() error {
	err := c.rows.Close()
	c.rows, c.group = nil, c.group+1
	groups := c.table.file.RowGroups()
	if err != nil || c.group == len(groups) {
		return err
	}
	c.rows, err = openRows(groups[c.group])
	return err
}

// end is behind the last row group, where all rows must have been.
func (c *parquetCursor) end() error {
	if want := c.table.rows(); c.row != want {
		return malformedf("its footer tells of %d rows, and %d are there", want, c.row)
	}
	return io.EOF
}

func (c *parquetCursor) close() error {
	if c.rows == nil {
		return nil
	}
	err := c.rows.Close()
	c.rows = nil
	return err
}

// translate makes a row of a Parquet row, which holds one value of each column.
func (t *parquetTable) translate(values parquet.Row) (schema.Row, error) {
	row := make(schema.Row, t.columns.Len())
	if len(values) != len(row) {
		return nil, malformedf("it has %d values, and the table %d columns", len(values), len(row))
	}
	for _, v := range values {
		place := t.places[v.Column()]
		c := &t.columns.Columns()[place]
		value, ok := fromParquet(v, c.Type)
		if !ok {
			return nil, malformedf("column %s: %s is out of range of %s", c.Name, v, c.Type)
		}
		if err := value.CheckYSON(); err != nil {
			return nil, malformedf("column %s: %w", c.Name, err)
		}
		row[place] = value
	}
	return row, nil
}
