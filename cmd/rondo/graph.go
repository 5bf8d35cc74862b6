package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// graphText draws the graph as text: computations in the order in which rows
// flow, with what each reads, keeps, visits and writes. Functions that are strangers
// are marked.
func graphText(s *spec.Spec, partitions map[string]int, strangers []string) string {
	g := graph{spec: s, partitions: partitions, strangers: strangers}
	for _, c := range flowOrder(&s.Pipeline) {
		g.computation(c)
	}
	g.line("\nstreams")
	width := 0
	for _, id := range s.Pipeline.StreamIDs() {
		width = max(width, len(id))
	}
	for _, id := range s.Pipeline.StreamIDs() {
		g.line(fmt.Sprintf("  %-*s  %s", width, id, columnsText(s.Pipeline.Streams[id])))
	}
	return g.text.String()
}

type graph struct {
	spec       *spec.Spec
	partitions map[string]int
	strangers  []string
	text       strings.Builder
}

func (g *graph) line(text string) { g.text.WriteString(text + "\n") }

// row writes what belongs to a label. Further rows of it have an empty one.
func (g *graph) row(label, text string) { fmt.Fprintf(&g.text, "  %-9s %s\n", label, text) }

func (g *graph) rows(label string, texts []string) {
	for i, text := range texts {
		if i > 0 {
			label = ""
		}
		g.row(label, text)
	}
}

func (g *graph) computation(c *spec.Computation) {
	what := c.Class.String()
	if c.ProcessingFunction != "" {
		what += " " + c.ProcessingFunction
	}
	if slices.Contains(g.strangers, c.ProcessingFunction) {
		what += " (which this binary does not have)"
	}
	g.line(fmt.Sprintf("\n%s: %s, %s", c.ID, what, g.partitionsText(c)))
	g.rows("reads", g.reads(c))
	if c.GroupBy.Len() > 0 {
		g.row("key", keyText(c))
	}
	g.rows("tables", externalTables(c))
	g.rows("visits", g.visits(c))
	g.rows("writes", g.writes(c))
	g.rows("sink", sinks(c))
	if a := c.Watermark.Assigner; a.Column != "" {
		g.row("time", fmt.Sprintf("event timestamps of output from column %s, %s", a.Column, a.Format))
	}
}

func (g *graph) partitionsText(c *spec.Computation) string {
	if n := g.partitions[c.ID]; n > 0 {
		return plural(n, "partition")
	}
	return "as many partitions as its source"
}

func (g *graph) reads(c *spec.Computation) (rows []string) {
	for _, id := range c.SourceIDs() {
		source := c.Sources[id]
		rows = append(rows, fmt.Sprintf("source %s: %s", id, connectorText(source.ClassName, source.Parameters)))
	}
	for _, id := range c.Inputs {
		rows = append(rows, fmt.Sprintf("%s <- %s", id, g.spec.Pipeline.Producer(id).ID))
	}
	return rows
}

func (g *graph) visits(c *spec.Computation) (rows []string) {
	for _, id := range c.VisitStreamIDs() {
		rows = append(rows, visitText(c.VisitStreams[id], g.spec.Dynamic.Computation(c.ID).VisitStream(id)))
	}
	return rows
}

// writes lists the outputs with what they depend on, as far as that says more
// than the inputs, and who reads them.
func (g *graph) writes(c *spec.Computation) (rows []string) {
	for _, id := range c.Outputs {
		var readers []string
		for _, consumer := range g.spec.Pipeline.Consumers(id) {
			readers = append(readers, consumer.ID)
		}
		for _, sink := range c.SinkIDs() {
			if slices.Contains(c.Sinks[sink].Inputs, id) {
				readers = append(readers, "sink "+sink)
			}
		}
		row := id + " -> " + strings.Join(readers, ", ")
		if len(readers) == 0 {
			row = id + ", which nothing reads"
		}
		if parents := c.Dependencies[id]; len(c.VisitStreams) > 0 && len(parents) > 0 {
			row += " (from " + strings.Join(parents, ", ") + ")"
		}
		rows = append(rows, row)
	}
	return rows
}

// externalTables lists the tables that a computation keeps state in, and those that it
// joins.
func externalTables(c *spec.Computation) (rows []string) {
	for _, name := range slices.Sorted(maps.Keys(c.ExternalManagers)) {
		m := c.ExternalManagers[name]
		rows = append(rows, fmt.Sprintf("%s: state in %s", name, connectorText(m.ClassName, m.Parameters)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.ExternalJoiners)) {
		j := c.ExternalJoiners[name]
		rows = append(rows, fmt.Sprintf("%s: joined from %s", name, connectorText(j.ClassName, j.Parameters)))
	}
	return rows
}

func sinks(c *spec.Computation) (rows []string) {
	for _, id := range c.SinkIDs() {
		sink := c.Sinks[id]
		rows = append(rows, fmt.Sprintf("%s: %s", id, connectorText(sink.ClassName, sink.Parameters)))
	}
	return rows
}

// visitText describes a visit stream by what a user chose.
func visitText(v *spec.VisitStream, d *spec.DynamicVisitStream) string {
	parts := []string{"every key once in " + yson.FormatDuration(d.Period), plural(v.BucketCount, "bucket") + " a partition"}
	if !d.Enabled {
		parts = append(parts, "switched off")
	}
	if names := append(slices.Clone(v.Names), v.ExternalNames...); len(names) > 0 {
		parts = append(parts, "keys of "+strings.Join(names, ", "))
	}
	if d.MaxVisitsPerSecond != nil {
		parts = append(parts, fmt.Sprintf("at most %g keys/s", *d.MaxVisitsPerSecond))
	}
	switch {
	case !d.Finite:
		parts = append(parts, "for ever")
	case len(v.Upstream) == 0:
		parts = append(parts, "one pass, which waits for nothing")
	default:
		parts = append(parts, "the final pass after "+strings.Join(v.Upstream, ", "))
	}
	return v.ID + ": " + strings.Join(parts, ", ")
}

// keyText lists the columns of the key, with the expression of those that are
// computed.
func keyText(c *spec.Computation) string {
	var columns []string
	for _, column := range c.GroupBy.Columns() {
		text := column.Name
		if column.Expression != "" {
			text += " = " + column.Expression
		}
		columns = append(columns, text)
	}
	return strings.Join(columns, "; ")
}

func columnsText(s *spec.Stream) string {
	var columns []string
	for _, column := range s.Schema.Columns() {
		columns = append(columns, column.Name+" "+column.Type.String())
	}
	return strings.Join(columns, ", ")
}

// connectorText is a class with its parameters, as YSON on one line.
func connectorText(class string, parameters *yson.Node) string {
	if !parameters.IsSet() {
		return class
	}
	return cut(class+" "+string(yson.Encode(parameters)), 160)
}

// flowOrder puts each computation behind those whose streams it reads; on a
// cycle, the first by name goes first.
func flowOrder(p *spec.Pipeline) []*spec.Computation {
	waiting := p.ComputationIDs()
	var out []*spec.Computation
	ready := func(id string) bool {
		return !slices.ContainsFunc(p.Computations[id].Inputs, func(stream string) bool {
			producer := p.Producer(stream).ID
			return producer != id && slices.Contains(waiting, producer)
		})
	}
	for len(waiting) > 0 {
		i := max(0, slices.IndexFunc(waiting, ready))
		out = append(out, p.Computations[waiting[i]])
		waiting = slices.Delete(waiting, i, i+1)
	}
	return out
}
