package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

type validateCommand struct{ specArg }

// Help is shown below the usage.
func (validateCommand) Help() string {
	return `Everything is checked that rondo run would check before it begins, the files to read included. Queues are looked up when it runs.

Example:
  rondo validate examples/flights/pipeline.yson`
}

// Run checks a spec and says what it comes to.
func (c *validateCommand) Run(io *streams) error {
	s, err := c.parse()
	if err != nil {
		return err
	}
	ctx := context.Background()
	p, err := prepare(ctx, s, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := p.Check(ctx, nil); errors.Is(err, store.ErrNoQueue) {
		s.Notes = append(s.Notes, fmt.Sprintf("for the first run: %v", err))
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprint(io.out, verdict(s))
	return err
}

// verdict is what a valid spec is and what is to be known about it.
func verdict(s *spec.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: valid\n  pipeline %s: %s, %s\n", s.Path, s.Name,
		plural(len(s.Pipeline.Computations), "computation"), plural(len(s.Pipeline.Streams), "stream"))
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	if len(s.Ignored) > 0 {
		b.WriteString("  accepted, no effect:\n")
	}
	for _, path := range s.Ignored {
		fmt.Fprintf(&b, "    %s\n", path)
	}
	return b.String()
}
