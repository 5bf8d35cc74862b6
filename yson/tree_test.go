package yson

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// show prints a tree for transcripts: a line per node, with place, kind and
// content.
func show(n *Node) string {
	var b strings.Builder
	showInto(&b, "", n, "")
	return b.String()
}

func showInto(b *strings.Builder, indent string, n *Node, label string) {
	fmt.Fprintf(b, "%s%s%d:%d %s", indent, label, n.Pos.Line, n.Pos.Column, n.Kind)
	if n.Kind != KindList && n.Kind != KindMap && n.Kind != KindEntity {
		fmt.Fprintf(b, " %s", appendScalar(nil, n))
	}
	b.WriteString("\n")
	for _, e := range n.Attributes {
		showInto(b, indent+"  ", e.Value, fmt.Sprintf("<%s %d:%d> ", e.Key, e.Pos.Line, e.Pos.Column))
	}
	for _, e := range n.Map {
		showInto(b, indent+"  ", e.Value, fmt.Sprintf("%s %d:%d = ", e.Key, e.Pos.Line, e.Pos.Column))
	}
	for _, item := range n.List {
		showInto(b, indent+"  ", item, "- ")
	}
}

// equal compares trees without regard to places and the order of keys.
func equal(a, b *Node) bool {
	scalars := a.Kind == b.Kind && a.Bool == b.Bool && a.Int == b.Int && a.Uint == b.Uint && a.Text == b.Text &&
		math.Float64bits(a.Double) == math.Float64bits(b.Double)
	return scalars && slices.EqualFunc(a.List, b.List, equal) &&
		equalEntries(a.Map, b.Map) && equalEntries(a.Attributes, b.Attributes)
}

func equalEntries(a, b []Entry) bool {
	if len(a) != len(b) {
		return false
	}
	other := Map(b...)
	for _, e := range a {
		if v := other.Get(e.Key); v == nil || !equal(e.Value, v) {
			return false
		}
	}
	return true
}

// genTree generates trees of any content, depth bounded.
func genTree(depth int) *rapid.Generator[*Node] {
	kinds := []*rapid.Generator[*Node]{
		rapid.Just(Entity()),
		rapid.Map(rapid.Bool(), Boolean),
		rapid.Map(rapid.Int64(), Int64),
		rapid.Map(rapid.Uint64(), Uint64),
		rapid.Map(genDouble(), Double),
		rapid.Map(genText(), String),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Custom(func(t *rapid.T) *Node {
				return List(rapid.SliceOfN(genTree(depth-1), 0, 4).Draw(t, "items")...)
			}),
			rapid.Custom(func(t *rapid.T) *Node { return Map(genEntries(t, depth-1)...) }),
			rapid.Custom(func(t *rapid.T) *Node {
				n := *genTree(depth-1).Draw(t, "value")
				n.Attributes = genEntries(t, depth-1)
				return &n
			}),
		)
	}
	return rapid.OneOf(kinds...)
}

func genEntries(t *rapid.T, depth int) []Entry {
	m := rapid.MapOfN(genText(), genTree(depth), 0, 4).Draw(t, "entries")
	var entries []Entry
	for key, value := range m {
		entries = append(entries, Entry{Key: key, Value: value})
	}
	return entries
}

// genDouble leaves out NaNs other than the one that text can spell.
func genDouble() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e21, math.NaN(), math.Inf(1), math.Inf(-1)}))
}

func genText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "true", "a b", "\"\\\n\t\x00\x7f\xff", "π"}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
}
