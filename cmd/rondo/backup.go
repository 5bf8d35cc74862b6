package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rondo-flow/rondo/console"
)

type backupCommand struct {
	placeFlags
	Dir *string `arg:"" optional:"" help:"Where to put the copy: a folder that is not there yet."`
}

// Help is shown below the usage.
func (backupCommand) Help() string {
	return `The copy is a data folder as of one moment: the store, and of the files that sinks write in the folder what they had then. A pipeline that starts on it, with --data DIR, goes on exactly there. A running pipeline works on meanwhile.

Files that sinks write elsewhere and the files that sources read are not in it; the former are named.` + placeHelp + `

Examples:
  rondo backup examples/flights/pipeline.yson copies/monday
  rondo backup --data rondo-data/flights /mnt/copies/flights`
}

// Run makes the copy.
func (c *backupCommand) Run(io *streams) error {
	if c.Dir == nil && c.File != nil && c.Data != "" {
		c.File, c.Dir = nil, c.File
	}
	if c.Dir == nil {
		return &usageError{errors.New("where to? Name the pipeline and a folder that is not there yet")}
	}
	dir, err := filepath.Abs(*c.Dir)
	if err != nil {
		return err
	}
	return c.with(io, func(ctx context.Context, r *reached) error {
		left, err := r.backup(ctx, dir)
		if err != nil {
			return err
		}
		for _, path := range left {
			fmt.Fprintf(io.err, "rondo: not in the copy, since it lies outside the data folder: %s\n", path)
		}
		fmt.Fprintf(io.err, "rondo: the copy is complete: %s\n", dir)
		return nil
	})
}

// backup lets the process that holds the store make the copy.
func (r *reached) backup(ctx context.Context, dir string) (left []string, err error) {
	switch s := r.subject.(type) {
	case *console.Client:
		a, err := s.Backup(ctx, console.BackupRequest{Dir: dir})
		if err != nil {
			return nil, err
		}
		return a.Left, nil
	case *resting:
		return copyFolder(ctx, s.store, r.dataDir, dir)
	default:
		panic("no such pipeline")
	}
}
