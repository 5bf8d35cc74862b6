package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/schema"
	"golang.org/x/term"
)

type tableSortCommand struct {
	In     string   `arg:"" help:"The file to sort: .parquet, .csv with a header, .jsonl or .ndjson."`
	Key    string   `required:"" placeholder:"COLUMNS" help:"The columns of the key as in group_by_schema, such as hash=farm_hash(iata),iata: one with an expression is computed."`
	Out    string   `required:"" placeholder:"FILE" help:"The sorted file, in the format that its name ends with."`
	Type   []string `sep:"none" placeholder:"COLUMN=TYPE" help:"The type of a column. May be repeated. By default columns of CSV are utf8, and those of JSON Lines have the narrowest type that takes all their values."`
	Memory sizeFlag `default:"256Mi" placeholder:"SIZE" help:"Memory to sort in, 256Mi by default. Rows beyond it go to temporary files beside the sorted one."`
}

// Help is shown below the usage.
func (tableSortCommand) Help() string {
	return `Keys must be distinct and without nulls. The columns of the key come first in the sorted file, and types are kept. A .meta file is written beside CSV and JSON Lines: it tells types, rows and a checksum, and belongs to the file from then on.

The sorted file takes the place of a former one at once and as a whole, so it may be one that a pipeline reads.

Examples:
  rondo table sort airports.csv --key "hash=farm_hash(iata),iata" --type latitude=double --out airports.parquet
  rondo table sort events.jsonl --key "hash=farm_hash(user),user" --out events.jsonl --memory 1Gi`
}

// Run sorts.
func (c *tableSortCommand) Run(io *streams) (err error) {
	types, err := c.types()
	if err != nil {
		return &usageError{err}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignore := onInterrupt(stop, nil, time.Now)
	defer ignore()
	bar := newSortBar(io.err)
	res, err := external.Sort(ctx, external.SortOptions{
		In: c.In, Out: c.Out, Key: c.Key, Types: types, Memory: int64(c.Memory), Progress: bar.show,
	})
	bar.close()
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped: nothing was written")
	case err != nil:
		return err
	}
	return sorted(io.err, c.Out, res)
}

// types are those of --type, by column.
func (c *tableSortCommand) types() (map[string]schema.Type, error) {
	types := map[string]schema.Type{}
	for _, text := range c.Type {
		column, name, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--type %s: give a column and its type, such as height=double", text)
		}
		t, err := schema.ParseType(name)
		if err != nil {
			return nil, fmt.Errorf("--type %s: %w", text, err)
		}
		types[column] = t
	}
	return types, nil
}

func sorted(w io.Writer, path string, res external.SortResult) error {
	_, err := fmt.Fprintf(w, "rondo: sorted %s into %s\n", pluralDigits(res.Rows, "row"), path)
	return err
}

// sortBar shows how far a sort, or what goes over rows like one, is, on a terminal.
type sortBar struct{ painted *painted }

func newSortBar(file *os.File) *sortBar {
	if !term.IsTerminal(int(file.Fd())) {
		return &sortBar{}
	}
	return &sortBar{newPainted(newScreen(file), 1)}
}

func (b *sortBar) show(p external.SortProgress) {
	what := fmt.Sprintf("reading [%s] %s rows", bar(p.Part), digits(p.Read))
	if p.Written > 0 {
		what = fmt.Sprintf("writing [%s] %s of %s rows", bar(p.Part), digits(p.Written), digits(p.Read))
	}
	b.say(what)
}

func (b *sortBar) say(what string) {
	if b.painted != nil {
		b.painted.paint(func(int, int) string { return what })
	}
}

func (b *sortBar) close() {
	if b.painted != nil {
		b.painted.close()
	}
}
