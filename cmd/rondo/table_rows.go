package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

type tablePutCommand struct {
	tableFlags
	Row []string `arg:"" optional:"" help:"The row as column=value, or as a JSON object. Without it, rows are lines of standard input, each a JSON object."`
}

// Help is shown below the usage.
func (tablePutCommand) Help() string {
	return `A row takes the place of the one with its key. Columns that are not given are null, or computed; those of the key that are not computed have to be given. At a line that is no row the command fails, and lines before it may have been written; they may be written again.` + tableHelp + `

Examples:
  rondo table put pipeline.yson //home/accounts user=ann last_seen=2001-02-03T04:05:06Z
  rondo table put pipeline.yson //home/accounts <accounts.jsonl`
}

// Run writes rows.
func (c *tablePutCommand) Run(io *streams) error {
	if err := c.one(&c.Row); err != nil {
		return err
	}
	ctx := context.Background()
	return c.withTable(ctx, io, func(_ *openTables, t *table) error {
		b := &batch{table: t}
		err := c.each(t, func(key string, value []byte) error { return b.add(ctx, key, value) })
		if err == nil {
			err = b.flush(ctx)
		}
		if err != nil {
			return fmt.Errorf("%w; %s written", err, plural(b.count, "row"))
		}
		return tell(io.err, "put %s into table %s", plural(b.count, "row"), t.Name)
	})
}

// each encodes the row that was given, or those of standard input.
func (c *tablePutCommand) each(t *table, do func(key string, value []byte) error) error {
	encoded := func(row schema.Row, err error) error {
		if err != nil || row == nil {
			return err // a blank line is no row
		}
		key, value, err := t.form.Encode(row)
		if err != nil {
			return err
		}
		return do(key, value)
	}
	if len(c.Row) > 0 {
		return encoded(t.parseRow(c.Row))
	}
	in := bufio.NewReader(os.Stdin)
	for line := 1; ; line++ {
		text, end := in.ReadString('\n')
		if end != nil && end != io.EOF {
			return end
		}
		if err := encoded(t.parseObject(text)); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if end == io.EOF {
			return nil
		}
	}
}

type tableGetCommand struct {
	tableFlags
	Key []string `arg:"" optional:"" help:"Values of the key, or the key as a JSON object."`
}

// Help is shown below the usage.
func (tableGetCommand) Help() string {
	return `The row is printed as a JSON object. Columns of the key that have an expression are computed and not given.` + tableHelp + `

Example:
  rondo table get pipeline.yson //home/accounts ann`
}

// Run prints a row.
func (c *tableGetCommand) Run(io *streams) error {
	if err := c.one(&c.Key); err != nil {
		return err
	}
	ctx := context.Background()
	return c.withTable(ctx, io, func(_ *openTables, t *table) error {
		key, value, err := t.find(ctx, c.Key)
		if err != nil {
			return err
		}
		text, err := t.object(key, value)
		if err == nil {
			_, err = fmt.Fprint(io.out, text)
		}
		return err
	})
}

// find returns a row that has to be there.
func (t *table) find(ctx context.Context, args []string) (key string, value []byte, err error) {
	if len(args) == 0 {
		return "", nil, &usageError{errors.New("which row? Give the values of its key")}
	}
	if key, err = t.key(args); err != nil {
		return "", nil, err
	}
	found, err := t.GetRows(ctx, t.ID, []string{key})
	switch {
	case err != nil:
		return "", nil, err
	case len(found[0]) == 0:
		return "", nil, fmt.Errorf("table %s has no row with the key %s", t.Name, strings.Join(args, " "))
	}
	return key, found[0], nil
}

type tableDeleteCommand struct {
	tableFlags
	Key []string `arg:"" optional:"" help:"Values of the key, or the key as a JSON object."`
}

// Help is shown below the usage.
func (tableDeleteCommand) Help() string {
	return `It is an error if there is no such row.` + tableHelp + `

Example:
  rondo table delete pipeline.yson //home/accounts ann`
}

// Run deletes a row, if it still is what was found.
func (c *tableDeleteCommand) Run(io *streams) error {
	if err := c.one(&c.Key); err != nil {
		return err
	}
	ctx := context.Background()
	return c.withTable(ctx, io, func(_ *openTables, t *table) error {
		key, value, err := t.find(ctx, c.Key)
		if err == nil {
			err = t.WriteRows(ctx, []store.TableWrite{{Table: t.ID, Key: key, Checked: true, Was: value}})
		}
		if err != nil {
			return err
		}
		return tell(io.err, "deleted 1 row of table %s", t.Name)
	})
}

type tableListCommand struct {
	tableFlags
	From  string    `placeholder:"KEY" help:"Begin at this key, given as a JSON object."`
	Limit limitFlag `default:"100" placeholder:"N" help:"Stop after N rows, 100 by default; 0 lists all."`
}

// Help is shown below the usage.
func (tableListCommand) Help() string {
	return `Without a table, the tables are listed with their columns. With one, its rows are printed as JSON Lines in order of their keys.` + tableHelp + `

Examples:
  rondo table list pipeline.yson
  rondo table list pipeline.yson //home/accounts --limit 0`
}

// Run lists tables, or rows.
func (c *tableListCommand) Run(io *streams) error {
	if err := c.shift(nil); err != nil {
		return err
	}
	ctx := context.Background()
	if c.Table == nil {
		return c.listTables(ctx, io)
	}
	return c.withTable(ctx, io, func(_ *openTables, t *table) error { return c.listRows(ctx, io, t) })
}

func (c *tableListCommand) listTables(ctx context.Context, io *streams) error {
	ts, err := c.openTables(ctx, io)
	if err != nil {
		return err
	}
	all, err := ts.Tables(ctx)
	for _, info := range all {
		form, unreadable := formOf(&info)
		if unreadable != nil { // the others are listed all the same
			err = errors.Join(err, unreadable)
			continue
		}
		where := ""
		if info.Relation != "" {
			where = " (rows of " + info.Relation + ")"
		}
		fmt.Fprintf(io.out, "%s%s: %s\n", info.Name, where, describeColumns(form))
	}
	return errors.Join(err, ts.close())
}

// describeColumns lists the columns, those of the key first.
func describeColumns(form *schema.Table) string {
	var key, rest []string
	for i, c := range form.Columns().Columns() {
		text := c.Name + " " + c.Type.String()
		if c.Expression != "" {
			text += " = " + c.Expression
		}
		if i < form.Key().Len() {
			key = append(key, text)
		} else {
			rest = append(rest, text)
		}
	}
	return strings.Join(append([]string{"key (" + strings.Join(key, ", ") + ")"}, rest...), ", ")
}

func (c *tableListCommand) listRows(ctx context.Context, streams *streams, t *table) error {
	from := ""
	if c.From != "" {
		var err error
		if from, err = t.key([]string{c.From}); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	out := bufio.NewWriter(streams.out)
	more, err := c.printRows(ctx, out, &rowReader{table: t, from: from})
	if err = errors.Join(err, out.Flush()); err == nil && more {
		err = tell(streams.err, "there are more rows: go on with --from, or list all with --limit 0")
	}
	return err
}

// printRows prints rows up to the limit, and tells whether there are more.
func (c *tableListCommand) printRows(ctx context.Context, out *bufio.Writer, r *rowReader) (more bool, err error) {
	for left := int(c.Limit); ; left-- {
		key, value, err := r.next(ctx)
		if err == io.EOF || err == nil && c.Limit > 0 && left == 0 {
			return err == nil, nil
		}
		var text string
		if err == nil {
			text, err = r.table.object(key, value)
		}
		if err == nil {
			_, err = out.WriteString(text)
		}
		if err != nil {
			return false, err
		}
	}
}
