package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/store"
)

type tableImportCommand struct {
	tableFlags
	In      []string `arg:"" optional:"" name:"in" help:"The file: .parquet, .csv with a header, .jsonl or .ndjson, in any order."`
	Replace bool     `help:"Put the rows in place of all that the table has, at once and as a whole. A key that comes twice is then an error."`
}

// Help is shown below the usage.
func (tableImportCommand) Help() string {
	return `The file's columns are found by their names, and all must be the table's. Rows are read and written a few at a time, so that a file may have any size.

Without --replace, a row takes the place of the one with its key, and what is written stays if the command is stopped: run it again, and rows that are there already are written over by the same. Of a key that comes twice in the file the later row stays. With --replace, that is an error, and the table has either all its former rows or all those of the file.` + tableHelp + `

Examples:
  rondo table import pipeline.yson //home/accounts accounts.csv
  rondo table import pipeline.yson //home/accounts accounts.parquet --replace`
}

// Run imports the file.
func (c *tableImportCommand) Run(io *streams) error {
	if err := c.one(&c.In); err != nil {
		return err
	}
	if len(c.In) != 1 {
		return &usageError{errors.New("which file? Name one to import")}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignore := onInterrupt(stop, nil, time.Now)
	defer ignore()
	return c.withTable(ctx, io, func(ts *openTables, t *table) error {
		rows, err := c.load(ctx, io, ts, t)
		switch {
		case err == nil:
		case unknown(err) && !c.Replace:
			return fmt.Errorf("%w; to be sure run the same command again, which goes over what was written", err)
		case unknown(err) || ctx.Err() == nil:
			return err
		case c.Replace:
			return errors.New("stopped: the table is as it was")
		default:
			return fmt.Errorf("stopped: %s written; the same command goes over them again", plural(int(rows), "row"))
		}
		return tell(io.err, "imported %s into table %s", pluralDigits(rows, "row"), t.Name)
	})
}

// load reads the file into the table, or into another one that takes its place.
func (c *tableImportCommand) load(ctx context.Context, io *streams, ts *openTables, t *table) (rows int64, err error) {
	id := t.ID
	if c.Replace && t.Relation != "" {
		return 0, &usageError{fmt.Errorf("the rows of table %s are in %s, a table of yours: nothing is put in its place; import without --replace", t.Name, t.Relation)}
	}
	if c.Replace {
		if id, err = ts.stage(ctx, t); err != nil {
			return 0, err
		}
	}
	bar := newSortBar(io.err)
	o := external.ImportOptions{In: c.In[0], Table: t.form, BatchBytes: batchBytes, Unique: c.Replace, Progress: bar.show}
	o.Put = func(ctx context.Context, rows []external.StoredRow) error { return c.put(ctx, t, id, rows, o) }
	rows, err = external.Import(ctx, o)
	bar.close()
	if !c.Replace {
		return rows, err
	}
	if err == nil {
		err = ts.RenameTable(ctx, id, t.Name)
	}
	if err == nil || unknown(err) {
		return rows, err // the rows may be those of the table now
	}
	return rows, errors.Join(err, ts.DropTable(context.WithoutCancel(ctx), id))
}

// unknown tells that what was asked for may have been done.
func unknown(err error) bool {
	return errors.Is(err, store.ErrUnknownOutcome) || errors.Is(err, console.ErrUnknown)
}

// stage makes an empty table beside another one. What a former import left is
// dropped.
func (ts *openTables) stage(ctx context.Context, t *table) (store.TableID, error) {
	all, err := ts.Tables(ctx)
	if err != nil {
		return 0, err
	}
	for _, left := range all {
		if left.Name == external.StagingName(t.Name) {
			if err := ts.DropTable(ctx, left.ID); err != nil {
				return 0, err
			}
		}
	}
	return ts.CreateTable(ctx, external.StagingName(t.Name), t.form.String())
}

func (c *tableImportCommand) put(ctx context.Context, t *table, id store.TableID, rows []external.StoredRow, o external.ImportOptions) error {
	writes := make([]store.TableWrite, len(rows))
	for i, r := range rows {
		writes[i] = store.TableWrite{Table: id, Key: r.Key, Value: r.Value, Checked: c.Replace}
	}
	err := t.WriteRows(ctx, writes)
	if c.Replace && err != nil && ctx.Err() == nil {
		if twice := c.twice(ctx, t, id, rows, o); twice != nil {
			return twice
		}
	}
	return err
}

// twice looks for a key that an earlier batch had too.
func (c *tableImportCommand) twice(ctx context.Context, t *table, id store.TableID, rows []external.StoredRow, o external.ImportOptions) error {
	for _, r := range rows {
		found, err := t.GetRows(ctx, id, []string{r.Key})
		if err != nil {
			return nil
		}
		if len(found[0]) > 0 {
			return o.Twice(ctx, r)
		}
	}
	return nil
}

type tableExportCommand struct {
	tableFlags
	Out string `required:"" placeholder:"FILE" help:"The file, in the format that its name ends with: .parquet, .csv or .jsonl."`
}

// Help is shown below the usage.
func (tableExportCommand) Help() string {
	return `The rows are in order of their keys, so that a pipeline may join the file. It takes the place of a former one at once and as a whole. Rows that change meanwhile are there as they were at some moment of it.` + tableHelp + `

Example:
  rondo table export pipeline.yson //home/accounts --out accounts.parquet`
}

// Run exports the table.
func (c *tableExportCommand) Run(out *streams) error {
	if err := c.one(nil); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignore := onInterrupt(stop, nil, time.Now)
	defer ignore()
	return c.withTable(ctx, out, func(_ *openTables, t *table) error {
		r := &rowReader{table: t}
		rows, err := external.Export(ctx, c.Out, t.form.Columns(), r.row)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return errors.New("stopped: nothing was written")
		default:
			return err
		}
		return tell(out.err, "exported %s of table %s to %s", pluralDigits(rows, "row"), t.Name, c.Out)
	})
}
