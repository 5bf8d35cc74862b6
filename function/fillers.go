package function

import (
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// outputs prepares the streams that visits emit to.
func (s *rollupSetup) outputs(p rollupParameters) {
	s.result.emit = s.target(p.OnVisit.Emit, "on_visit", "emit")
	if evict := p.OnVisit.Evict; evict != nil {
		s.result.evict = &eviction{idle: evict.Idle, emit: s.target(evict.Emit, "on_visit", "evict", "emit")}
	}
}

func (s *rollupSetup) target(stream *string, path ...string) *target {
	if stream == nil {
		return nil
	}
	out := visitOutput(&s.Setup, *stream, func(format string, args ...any) { s.problem(path, format, args...) })
	if out == nil {
		return nil
	}
	t := &target{stream: *stream, schema: out, row: make(schema.Row, out.Len())}
	for _, c := range out.Columns() {
		t.fill = append(t.fill, s.filler(c, *stream, path))
	}
	return t
}

// filler finds what fills a column of an output.
func (s *rollupSetup) filler(c schema.Column, stream string, path []string) filler {
	fill, kind, known := s.source(c)
	switch {
	case s.slots[c.Name] == unusable: // reported already
	case !known:
		s.problem(path, "nothing fills column %s of stream %s: it is no aggregate, no column of the group_by_schema, and not pass or final", c.Name, stream)
	case kind != c.Type.Kind():
		s.problem(path, "column %s of stream %s is %s, what fills it is %s: change the type of the column", c.Name, stream, c.Type, kind)
	}
	return fill
}

// source returns what fills an output column, and the kind of its values.
func (s *rollupSetup) source(c schema.Column) (fill filler, kind schema.Kind, known bool) {
	if slot, ok := s.slots[c.Name]; ok && slot != unusable {
		fill, kind = s.aggregateFiller(slot, c.Type.Kind())
		return fill, kind, true
	}
	if s.Key != nil {
		if i, ok := s.Key.Index(c.Name); ok {
			fill = func(_ *flow.Visit, key, _ schema.Row) schema.Value { return key[i] }
			return fill, s.Key.Columns()[i].Type.Kind(), true
		}
	}
	switch c.Name {
	case "pass":
		return func(v *flow.Visit, _, _ schema.Row) schema.Value { return schema.Uint64(v.Pass) }, schema.KindUint64, true
	case "final":
		return func(v *flow.Visit, _, _ schema.Row) schema.Value { return schema.Boolean(v.Final) }, schema.KindBoolean, true
	default:
		return nil, 0, false
	}
}

// aggregateFiller shows the value of a slot; counts also in columns of unsigned
// integers.
func (s *rollupSetup) aggregateFiller(slot int, want schema.Kind) (filler, schema.Kind) {
	a := s.result.aggregates[slot]
	if a.op.counts && want == schema.KindUint64 {
		return func(_ *flow.Visit, _, values schema.Row) schema.Value { return schema.Uint64(values[slot].AsUint64()) }, want
	}
	return func(_ *flow.Visit, _, values schema.Row) schema.Value { return values[slot] }, a.kind
}
