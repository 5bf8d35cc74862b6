package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

type specCommand struct {
	Get        specGetCommand `cmd:"" help:"Show the spec in force, or one parameter of it."`
	SetDynamic specSetCommand `cmd:"" help:"Set a dynamic parameter, while the pipeline runs or not."`
}

// Help is shown below the usage.
func (specCommand) Help() string {
	return `Examples:
  rondo spec get examples/flights/pipeline.yson
  rondo spec get examples/flights/pipeline.yson computations.routes.key_visitor_streams.sweep.period
  rondo spec set-dynamic examples/flights/pipeline.yson computations.routes.key_visitor_streams.sweep.period 10m`
}

type specGetCommand struct {
	placeFlags
	Path   *string `arg:"" optional:"" help:"A path below dynamic_spec, or one that begins with spec."`
	Given  bool    `help:"Show only what was given, without defaults."`
	Output string  `enum:"text,json" default:"text" placeholder:"FORM" help:"Print YSON (text, default), or a JSON object with the version and the YSON (json)."`
}

// Help is shown below the usage.
func (specGetCommand) Help() string {
	return `What is shown has every parameter, given or default. The version, which set-dynamic takes, goes to stderr.` + placeHelp + `

Examples:
  rondo spec get examples/flights/pipeline.yson
  rondo spec get --data rondo-data/flights computations.routes.key_visitor_streams.sweep
  rondo spec get examples/flights/pipeline.yson spec.computations.routes.group_by_schema`
}

// Run shows the spec.
func (c *specGetCommand) Run(io *streams) error {
	if c.Path == nil && c.noFile() {
		c.File, c.Path = nil, c.File
	}
	return c.with(io, func(ctx context.Context, r *reached) error {
		in, err := r.Spec(ctx)
		if err != nil {
			return err
		}
		s, err := specOf(ctx, r)
		if err != nil {
			return err
		}
		node, err := c.node(s)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return json.NewEncoder(io.out).Encode(map[string]any{"version": in.Version, "value": string(yson.Encode(node))})
		}
		fmt.Fprintf(io.err, "rondo: version %d\n", in.Version)
		_, err = io.out.Write(yson.EncodePretty(node))
		return err
	})
}

// node finds what is asked for.
func (c *specGetCommand) node(s *spec.Spec) (*yson.Node, error) {
	root := s.Effective()
	if c.Given {
		given, err := s.Given()
		if err != nil {
			return nil, err
		}
		root = given
	}
	if c.Path == nil {
		return root, nil
	}
	part, path := "dynamic_spec", *c.Path
	if rest, static := strings.CutPrefix(path, "spec."); static {
		part, path = "spec", rest
	}
	names, err := spec.ParsePath(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s: %w", *c.Path, err)}
	}
	at, node := part, root.Get(part)
	for _, name := range names {
		next := node.Get(name)
		if next == nil {
			var known []string
			for _, e := range node.Map {
				known = append(known, e.Key)
			}
			return nil, fmt.Errorf("%s has no %s: %s", at, name, yson.DidYouMean(name, known))
		}
		at, node = yson.Join(at, name), next
	}
	return node, nil
}

type specSetCommand struct {
	placeFlags
	Args    []string `arg:"" optional:"" name:"path value" help:"A path below dynamic_spec, and its value in YSON; text such as 10m needs no quotes, and # takes away what was given."`
	Version uint64   `placeholder:"N" help:"Refuse unless this is the version in force, as spec get tells it."`
}

// Help is shown below the usage.
func (specSetCommand) Help() string {
	return `A running pipeline follows at once, without a restart. The value is checked first: one that is refused changes nothing. What is set stays in force over restarts, until the dynamic spec of the file changes.` + placeHelp + `

Examples:
  rondo spec set-dynamic examples/flights/pipeline.yson computations.routes.key_visitor_streams.sweep.period 10m
  rondo spec set-dynamic --data rondo-data/flights computations.routes.max_rows_per_batch '#' --version 3`
}

// Run sets the parameter.
func (c *specSetCommand) Run(io *streams) error {
	if c.noFile() {
		c.Args = append([]string{*c.File}, c.Args...)
		c.File = nil
	}
	if len(c.Args) != 2 {
		return &usageError{errors.New("give a path and its value, such as computations.routes.key_visitor_streams.sweep.period 10m")}
	}
	return c.with(io, func(ctx context.Context, r *reached) error {
		a, err := r.SetDynamic(ctx, console.SetRequest{Path: c.Args[0], Value: &c.Args[1], Version: c.Version})
		if err != nil {
			return err
		}
		fmt.Fprintf(io.err, "rondo: version %d\n", a.Version)
		return nil
	})
}
