package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type stateCommand struct {
	List stateListCommand `cmd:"" help:"List the states of all keys, or of some."`
	Get  stateGetCommand  `cmd:"" help:"Show the states of one key."`
}

// Help is shown below the usage.
func (stateCommand) Help() string {
	return `Examples:
  rondo state list examples/flights/pipeline.yson
  rondo state get examples/flights/pipeline.yson routes DFW ORD`
}

const stateHelp = `

The pipeline is found by its spec file, its data folder, or --data; it may be running. Columns of a key that have an expression, such as the hash, are computed and not given. A key may also be given as the JSON object that is printed, in one argument.

A value is shown as JSON if it is CBOR, which the default codec and the built-in functions write; as text if it is text; otherwise as {"$base64": "..."}.`

// stateFlags are what both commands have.
type stateFlags struct {
	placeFlags
	Comp   *string  `arg:"" optional:"" name:"computation" help:"The computation that keeps the states."`
	Key    []string `arg:"" optional:"" help:"Values of the key."`
	Name   []string `sep:"none" placeholder:"STATE" help:"Only states of this name, such as /rollup. May be repeated."`
	Raw    bool     `help:"Show the bytes of values as they are, in base64."`
	Output string   `enum:"text,json" default:"text" placeholder:"FORM" help:"Print a line for each state (text, default), or a JSON object for each key (json)."`
}

// open finds out what the arguments are and opens the store. A first one that is
// no spec file is the computation.
func (f *stateFlags) open(ctx context.Context, io *streams) (*kept, error) {
	if f.noFile() {
		if f.Comp != nil {
			f.Key = append([]string{*f.Comp}, f.Key...)
		}
		f.File, f.Comp = nil, f.File
	}
	return f.openKept(ctx, io)
}

// keyed finds a computation that keeps states.
func (k *kept) keyed(id string) (*spec.Computation, error) {
	var known []string
	for _, c := range k.allKeyed() {
		if c.ID == id {
			return c, nil
		}
		known = append(known, c.ID)
	}
	if k.spec.Pipeline.Computations[id] != nil && len(known) > 0 {
		return nil, fmt.Errorf("computation %s keeps no states: they are kept by %s", id, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("there is no computation %s that keeps states: %s", id, yson.DidYouMean(id, known))
}

// allKeyed are the computations that keep states, by id.
func (k *kept) allKeyed() (all []*spec.Computation) {
	for _, id := range k.spec.Pipeline.ComputationIDs() {
		if c := k.spec.Pipeline.Computations[id]; c.Class.HasKeyedState() && c.GroupBy.Len() > 0 {
			all = append(all, c)
		}
	}
	return all
}

type stateListCommand struct {
	stateFlags
	From  string    `placeholder:"KEY" help:"Begin at this key, given as the JSON object that is printed."`
	Limit limitFlag `default:"100" placeholder:"N" help:"Stop after N keys, 100 by default; 0 lists all."`
}

// Help is shown below the usage.
func (stateListCommand) Help() string {
	return `Keys are in the order of their hashes. Values of the key's first columns restrict the list to the keys that begin with them.` + stateHelp + `

Examples:
  rondo state list examples/flights/pipeline.yson
  rondo state list --data rondo-data/flights routes --limit 5 --output json`
}

// Run lists states.
func (c *stateListCommand) Run(io *streams) (err error) {
	ctx := context.Background()
	k, err := c.open(ctx, io)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(io.out)
	l := lister{kept: k, names: c.Name, print: c.printer(out), left: int(c.Limit), endless: c.Limit == 0}
	more, err := c.list(ctx, &l)
	err = errors.Join(err, out.Flush())
	switch {
	case err != nil:
		return err
	case more != "":
		return tell(io.err, "there are more keys: go on with %s", more)
	case l.shown == 0:
		return tell(io.err, "there are no such states")
	}
	return nil
}

// list lists what was asked for, and returns how to go on if there is more.
func (c *stateListCommand) list(ctx context.Context, l *lister) (more string, err error) {
	if c.Comp == nil {
		if c.From != "" {
			return "", &usageError{errors.New("--from needs the computation whose key it is")}
		}
		for _, comp := range l.kept.allKeyed() {
			if more, err := l.list(ctx, comp, "", ""); more != "" || err != nil {
				return more, err
			}
		}
		return "", nil
	}
	comp, err := l.kept.keyed(*c.Comp)
	if err != nil {
		return "", err
	}
	form, err := newKeyForm(comp)
	if err != nil {
		return "", err
	}
	prefix, err := form.prefix(c.Key)
	if err != nil {
		return "", err
	}
	from := ""
	if c.From != "" {
		if from, err = form.whole([]string{c.From}); err != nil {
			return "", fmt.Errorf("--from: %w", err)
		}
	}
	return l.list(ctx, comp, prefix, from)
}

// lister lists keys page by page.
type lister struct {
	kept    *kept
	names   []string
	print   *statePrinter
	left    int // keys
	shown   int
	endless bool
}

// pageBytes bounds what is in memory at a time. It never cuts a key.
const pageBytes = 1 << 20

// list prints the keys that begin with prefix, from a key on, and returns how to
// go on when no more may be printed.
func (l *lister) list(ctx context.Context, comp *spec.Computation, prefix, from string) (more string, err error) {
	r := store.ListRequest{Computation: comp.ID, Lower: max(prefix, from), Names: l.names, MaxBytes: pageBytes}
	for {
		a, err := l.kept.ListStates(ctx, r)
		if err != nil {
			return "", err
		}
		for _, key := range a.Keys {
			if !strings.HasPrefix(key.Key, prefix) {
				return "", nil
			}
			if l.left == 0 && !l.endless {
				return l.print.goOn(comp, key.Key)
			}
			l.left, l.shown = l.left-1, l.shown+1
			if err := l.print.key(comp, key.Key, key.Rows); err != nil {
				return "", err
			}
		}
		if a.Complete {
			return "", nil
		}
		r.Lower = a.CompleteTo
	}
}

type stateGetCommand struct{ stateFlags }

// Help is shown below the usage.
func (stateGetCommand) Help() string {
	return `All states of the key are shown.` + stateHelp + `

Examples:
  rondo state get examples/flights/pipeline.yson routes DFW ORD
  rondo state get --data rondo-data/flights routes '{"origin":"DFW","destination":"ORD"}'`
}

// Run shows the states of a key.
func (c *stateGetCommand) Run(io *streams) (err error) {
	ctx := context.Background()
	k, err := c.open(ctx, io)
	if err != nil {
		return err
	}
	if c.Comp == nil {
		return &usageError{errors.New("which key? Name a computation and the values of the key")}
	}
	comp, err := k.keyed(*c.Comp)
	if err != nil {
		return err
	}
	form, err := newKeyForm(comp)
	if err != nil {
		return err
	}
	key, err := form.whole(c.Key)
	if err != nil {
		return err
	}
	found, err := k.GetStates(ctx, comp.ID, []string{key})
	if err != nil {
		return err
	}
	return c.show(io.out, comp, key, found[0])
}

func (c *stateGetCommand) show(out io.Writer, comp *spec.Computation, key string, rows []store.StateRow) error {
	var names []string
	wanted := slices.DeleteFunc(slices.Clone(rows), func(r store.StateRow) bool {
		names = append(names, r.Name)
		return len(c.Name) > 0 && !slices.Contains(c.Name, r.Name)
	})
	if len(wanted) > 0 {
		return c.printer(out).key(comp, key, wanted)
	}
	object, err := keyObject(comp, key)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return fmt.Errorf("computation %s has no state of the key %s", comp.ID, object)
	default:
		return fmt.Errorf("computation %s has no state %s of the key %s: there are %s",
			comp.ID, strings.Join(c.Name, ", "), object, strings.Join(names, ", "))
	}
}
