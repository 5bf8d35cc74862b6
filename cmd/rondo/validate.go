package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type validateCommand struct{ specArg }

// Help is shown below the usage.
func (validateCommand) Help() string {
	return `Everything is checked that rondo run would check before it begins, the files to read included. Queues are looked up when it runs. A function that this binary does not have belongs to a program that uses Rondo as a library: it is said to be missing, and all else is checked.

Example:
  rondo validate examples/flights/pipeline.yson`
}

// Run checks a spec and says what it comes to.
func (c *validateCommand) Run(io *streams) error {
	s, err := c.parse()
	if err != nil {
		return err
	}
	strange, err := c.check(context.Background(), s)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprint(io.out, verdict(s, len(strange) > 0)); err != nil || len(strange) == 0 {
		return err
	}
	return &specError{s.Path, strange}
}

// check finds what is wrong with a spec. Functions that this binary does not have
// come apart from that, if all else is right.
func (c *validateCommand) check(ctx context.Context, s *spec.Spec) (strange yson.Problems, err error) {
	o, err := options(s, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	known := o.Functions.Names()
	strangers, err := addStrangers(o.Functions, s)
	if err != nil {
		return nil, err
	}
	strange = strangeProblems(s, strangers, known)
	p, err := prepareWith(ctx, o)
	if err == nil {
		err = p.Check(ctx, nil)
	}
	wrong := (*specError)(nil)
	switch {
	case errors.Is(err, store.ErrNoQueue):
		s.Notes = append(s.Notes, fmt.Sprintf("for the first run: %v", err))
		err = nil
	case err != nil && errors.As(err, &wrong):
		err = &specError{s.Path, together(wrong.err, strange)}
	case err != nil && len(strange) > 0:
		err = &specError{s.Path, together(err, strange)}
	}
	return strange, err
}

// verdict is what a valid spec is and what is to be known about it.
func verdict(s *spec.Spec, strange bool) string {
	var b strings.Builder
	word := "valid"
	if strange {
		word = "valid but for functions that this binary does not have"
	}
	fmt.Fprintf(&b, "%s: %s\n  pipeline %s: %s, %s\n", s.Path, word, s.Name,
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
