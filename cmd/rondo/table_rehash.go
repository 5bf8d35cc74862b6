package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/store/pgstore"
)

type tableRehashCommand struct {
	tableFlags
	DryRun bool `help:"Change nothing: only count the rows whose hash is wrong or missing, and fail if there are some."`
	Batch  int  `default:"1000" placeholder:"N" help:"How many rows are read, and changed, in a transaction."`
}

// Help is shown below the usage.
func (tableRehashCommand) Help() string {
	return `A table of your own in PostgreSQL, which was named with rondo table create --sql, has a column for the hash of each key. This command computes it as the schema says, and any other column of the key that has an expression. Rows are read in order of the index that finds them, a few at a time, each batch in a transaction of its own, and only those that are wrong are written: so others go on using the table, and a pipeline may run. If it is stopped, or killed, run it again: rows that are right are only read. Run it again too after rows were written without a hash.

Examples:
  rondo table rehash pipeline.yson //home/users
  rondo table rehash pipeline.yson //home/users --dry-run`
}

// Run fills the column.
func (c *tableRehashCommand) Run(io *streams) error {
	if err := c.one(nil); err != nil {
		return err
	}
	switch {
	case c.Store == "":
		return &usageError{errors.New("tables of your own lie in PostgreSQL: name the store with --store")}
	case c.Batch < 1 || c.Batch > 100_000:
		return &usageError{fmt.Errorf("--batch %d: take 1 to 100000 rows", c.Batch)}
	}
	if _, _, err := c.place(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignore := onInterrupt(stop, nil, time.Now)
	defer ignore()
	bar, told := newSortBar(io.err), int64(0)
	done, err := pgstore.RehashTable(ctx, c.Store, pgstore.Options{}, pgstore.Rehash{
		Table: *c.Table, Batch: c.Batch, DryRun: c.DryRun,
		Progress: func(r pgstore.Rehashed) {
			if bar.say(rehashed(r)); bar.painted == nil && r.Read >= told+rehashTell {
				told = r.Read
				_ = tell(io.err, "%s so far", rehashed(r)) // the end is told anyway
			}
		},
	})
	bar.close()
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped: %s; the same command goes on", rehashed(done))
	case err != nil:
		return err
	case c.DryRun && done.Wrong > 0:
		return fmt.Errorf("%s: the first is %s", rehashed(done), done.Example)
	}
	return tell(io.err, "%s", rehashed(done))
}

// rehashTell is after how many rows a line tells how far it is, where no bar does.
const rehashTell = 1_000_000

func rehashed(r pgstore.Rehashed) string {
	return fmt.Sprintf("%s read, %s wrong, %s changed", pluralDigits(r.Read, "row"), digits(r.Wrong), digits(r.Changed))
}
