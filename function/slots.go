package function

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// aggregates makes a slot for each different aggregate. Slots are in the order
// of their texts, so that neither names nor the order in the spec matter to
// what is stored.
func (s *rollupSetup) aggregates(params map[string]aggregateParameters) {
	if params != nil && len(params) == 0 { // absent ones are reported as missing
		s.problem([]string{"aggregates"}, "name at least one aggregate, such as {count = {op = count}}")
	}
	texts := map[string]aggregate{}
	columns := map[string][]int{}
	of := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		a, in, ok := s.aggregate(name, params[name])
		if ok {
			texts[a.text], columns[a.text], of[name] = a, in, a.text
		} else {
			s.slots[name] = unusable
		}
	}
	r := s.result
	sorted := slices.Sorted(maps.Keys(texts))
	for _, stream := range s.streams {
		r.inputs = append(r.inputs, input{stream: stream})
	}
	for _, text := range sorted {
		r.aggregates = append(r.aggregates, texts[text])
		for i := range r.inputs {
			r.inputs[i].columns = append(r.inputs[i].columns, columns[text][i])
		}
	}
	for name, text := range of {
		s.slots[name], _ = slices.BinarySearch(sorted, text)
	}
	r.states = flow.NewState[life]("/rollup", newLifeCodec(r.aggregates))
}

// aggregate checks one aggregate and returns it with its column in each input.
func (s *rollupSetup) aggregate(name string, p aggregateParameters) (a aggregate, columns []int, ok bool) {
	path := []string{"aggregates", name}
	if s.Key != nil {
		if _, taken := s.Key.Index(name); taken {
			s.problem(path, "the group_by_schema has a column of that name: give the aggregate another one")
			return a, nil, false
		}
	}
	operation, known := ops[p.Op]
	switch {
	case p.Op == "": // which is reported as missing
		return a, nil, false
	case !known:
		s.problem(append(path, "op"), "there is no op %q: use one of %s", p.Op, opNames())
		return a, nil, false
	case p.Column == nil && !operation.counts:
		s.problem(path, "%s needs a column: add column = <name of a column of the input>", p.Op)
		return a, nil, false
	case p.Column == nil:
		columns = slices.Repeat([]int{-1}, len(s.streams))
		return aggregate{text: p.Op, op: operation, kind: schema.KindInt64}, columns, true
	}
	a = aggregate{text: fmt.Sprintf("%s(%s)", p.Op, *p.Column), op: operation}
	before := len(s.problems)
	for _, stream := range s.streams {
		columns = append(columns, s.column(&a, p, append(path, "column"), stream))
	}
	if operation.counts {
		a.kind = schema.KindInt64
	}
	return a, columns, len(s.problems) == before
}

// column finds the column of an aggregate in an input stream, and checks its
// kind against the operation and the other streams.
func (s *rollupSetup) column(a *aggregate, p aggregateParameters, path []string, stream string) int {
	in := s.Inputs[stream]
	i, ok := in.Index(*p.Column)
	if !ok {
		s.problem(path, "the stream %s has no column %q: it has %s", stream, *p.Column, strings.Join(in.Names(), ", "))
		return 0
	}
	typ := in.Columns()[i].Type
	switch {
	case a.op.takes != nil && !slices.Contains(a.op.takes, typ.Kind()):
		s.problem(path, "%s does not work on column %s of stream %s, which is %s", p.Op, *p.Column, stream, typ)
	case a.kind != schema.KindNull && a.kind != typ.Kind() && !a.op.counts:
		s.problem(path, "column %s has %s values in stream %s and others in %s: they must be of one kind", *p.Column, typ.Kind(), stream, s.streams[0])
	}
	a.kind = typ.Kind()
	return i
}
