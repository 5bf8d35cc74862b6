package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/store/pgstore"
)

type migrateCommand struct {
	Up       migrateUpCommand       `cmd:"" help:"Make the store if it is not there, and take the steps that are missing."`
	Down     migrateDownCommand     `cmd:"" help:"Take the last step back, with the data that it holds."`
	Status   migrateStatusCommand   `cmd:"" help:"Show which steps were taken, and when."`
	Validate migrateValidateCommand `cmd:"" help:"Make sure that the store is as the steps left it."`
}

// Help is shown below the usage.
func (migrateCommand) Help() string {
	return `The store is a schema of a PostgreSQL database, named rondo unless the URL says rondo_schema=NAME. Each step is a transaction of its own. The URL may be given as RONDO_STORE, so that no password shows among the processes; PGPASSWORD and a password file work too.

Examples:
  rondo migrate up --store postgres://rondo@db.example.com/rondo
  rondo migrate up --store 'postgres://rondo@db.example.com/rondo?rondo_schema=orders'
  rondo run pipeline.yson --store postgres://rondo@db.example.com/rondo`
}

// storeFlag names a PostgreSQL store.
type storeFlag struct {
	Store string `required:"" placeholder:"URL" env:"RONDO_STORE" help:"The store: postgres://USER@HOST/DATABASE."`
}

type migrateUpCommand struct{ storeFlag }

// Run takes the steps that are missing.
func (c *migrateUpCommand) Run(io *streams) error {
	made, err := pgstore.MigrateUp(context.Background(), c.Store, pgstore.Options{})
	for _, m := range made {
		fmt.Fprintf(io.err, "rondo: step %s was taken\n", &m)
	}
	if err == nil && len(made) == 0 {
		fmt.Fprintln(io.err, "rondo: the store is up to date")
	}
	return err
}

type migrateDownCommand struct{ storeFlag }

// Run takes the last step back.
func (c *migrateDownCommand) Run(io *streams) error {
	undone, err := pgstore.MigrateDown(context.Background(), c.Store, pgstore.Options{})
	switch {
	case err != nil:
		return err
	case undone == nil:
		_, err = fmt.Fprintln(io.err, "rondo: no step was taken yet")
	default:
		_, err = fmt.Fprintf(io.err, "rondo: step %s was taken back\n", undone)
	}
	return err
}

type migrateStatusCommand struct{ storeFlag }

// Run prints a line for each step.
func (c *migrateStatusCommand) Run(io *streams) error {
	all, err := pgstore.MigrationStatus(context.Background(), c.Store, pgstore.Options{})
	for _, m := range all {
		when := "missing"
		if !m.Applied.IsZero() {
			when = "taken " + m.Applied.Format(time.RFC3339)
		}
		fmt.Fprintf(io.out, "%s  %s\n", &m, when)
	}
	return err
}

type migrateValidateCommand struct{ storeFlag }

// Run compares the store with the steps.
func (c *migrateValidateCommand) Run(io *streams) error {
	if err := pgstore.MigrationValidate(context.Background(), c.Store, pgstore.Options{}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(io.err, "rondo: the store is as its steps left it")
	return err
}
