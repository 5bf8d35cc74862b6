package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type tableCreateCommand struct {
	tableFlags
	SQL    string `name:"sql" placeholder:"TABLE" help:"The rows are those of this table of yours, such as public.accounts, in the database of the store (--store)."`
	Schema string `required:"" placeholder:"SCHEMA" help:"The columns as a list in YSON or JSON, or a .yson, .yaml or .json file that has it. Those with sort_order=ascending are the key and come first."`
}

// Help is shown below the usage.
func (tableCreateCommand) Help() string {
	return `For an external state of a pipeline, the columns of the key are those of group_by_schema. One with an expression, such as the hash, is computed and not given when rows are put. A table that is there with the same schema stays as it is.

With --sql, a table of your own in the same PostgreSQL database gets a name for Rondo. Its columns are found by the names that the schema has; others are left alone. rondo table rehash fills the hash column; then it has to be not null and indexed, and the other columns of the key need a unique index. What is missing is told.` + tableHelp + `

Examples:
  rondo table create pipeline.yson //home/users --sql public.users --schema users.yson
  rondo table create pipeline.yson //home/accounts --schema '[
    {name=hash; type=uint64; sort_order=ascending; expression="farm_hash(user)"};
    {name=user; type=utf8; sort_order=ascending};
    {name=last_seen; type=timestamp}]'`
}

// Run makes the table.
func (c *tableCreateCommand) Run(io *streams) error {
	if err := c.one(nil); err != nil {
		return err
	}
	if err := external.CheckTableName(*c.Table); err != nil {
		return &usageError{err}
	}
	form, err := readTableSchema(c.Schema)
	if err != nil {
		return fmt.Errorf("--schema: %w", err)
	}
	ctx := context.Background()
	ts, err := c.openOnce(ctx, io, true)
	if err != nil {
		return err
	}
	verb := "has"
	there, e := ts.named(ctx, *c.Table)
	switch {
	case c.SQL != "":
		return errors.Join(c.adopt(ctx, io, ts, form), ts.close())
	case e != nil:
		_, err = ts.CreateTable(ctx, *c.Table, form.String())
	case there.form.String() == form.String():
		verb = "is already there, with"
	default:
		err = fmt.Errorf("table %s is there with other columns, %s: choose another name, or drop it first", *c.Table, yson.Encode(there.form.Columns().Node()))
	}
	if err = errors.Join(err, ts.close()); err != nil {
		return err
	}
	return tell(io.err, "table %s %s %s, sorted by %s", *c.Table, verb, plural(form.Columns().Len(), "column"), strings.Join(form.Key().Names(), ", "))
}

// adopt lets the table stand for one in the database, and tells what that lacks.
func (c *tableCreateCommand) adopt(ctx context.Context, io *streams, ts *openTables, form *schema.Table) error {
	a := ts.adopter()
	if a == nil {
		return &usageError{errors.New("--sql is for a store in PostgreSQL (--store) on which no pipeline runs: stop the pipeline first, with rondo stop")}
	}
	id, err := a.AdoptTable(ctx, *c.Table, form.String(), c.SQL)
	if err != nil {
		return err
	}
	doubts, err := a.CheckTable(ctx, id, true)
	switch {
	case err == nil:
		err = tell(io.err, "table %s stands for %s", *c.Table, c.SQL)
	case errors.Is(err, store.ErrRefused):
		err = errors.Join(tell(io.err, "table %s stands for %s, and cannot be used yet:", *c.Table, c.SQL), tell(io.err, "%v", err))
	default:
		return err
	}
	for _, d := range doubts {
		err = errors.Join(err, tell(io.err, "warning: %s", d))
	}
	return err
}

// adopter is the store itself, if it can have tables of users.
func (ts *openTables) adopter() store.Adopter {
	h, ok := ts.tables.(*held)
	if !ok {
		return nil
	}
	a, _ := h.storage.(store.Adopter)
	return a
}

// readTableSchema reads the list of columns, from a file if it names one.
func readTableSchema(text string) (*schema.Table, error) {
	format, data := yson.YSON, []byte(text)
	if f, err := yson.FormatOf(text); err == nil {
		format = f
		if data, err = os.ReadFile(text); err != nil {
			return nil, err
		}
	}
	n, err := yson.Parse(data, format)
	if err != nil && format == yson.YSON {
		if asJSON, e := yson.Parse(data, yson.JSON); e == nil {
			n, err = asJSON, nil
		}
	}
	if err != nil {
		return nil, err
	}
	var columns []schema.Column
	if err := yson.Decode(n, "schema", &columns).Err(); err != nil {
		return nil, err
	}
	s, err := schema.New(columns)
	if err != nil {
		return nil, err
	}
	return schema.NewTable(s)
}

type tableDropCommand struct{ tableFlags }

// Help is shown below the usage.
func (tableDropCommand) Help() string {
	return `The table goes with all its rows; one of your own, which was named with rondo table create --sql, stays as it is, and only its name here goes. One that a running pipeline uses is refused.` + tableHelp + `

Example:
  rondo table drop pipeline.yson //home/accounts`
}

// Run drops the table.
func (c *tableDropCommand) Run(io *streams) error {
	if err := c.one(nil); err != nil {
		return err
	}
	ctx := context.Background()
	ts, err := c.openTables(ctx, io)
	if err != nil {
		return err
	}
	t, err := ts.look(ctx, *c.Table) // its schema may be one that cannot be read
	if err == nil {
		err = ts.DropTable(ctx, t.ID)
	}
	if err = errors.Join(err, ts.close()); err != nil {
		return err
	}
	return tell(io.err, "dropped table %s", t.Name)
}
