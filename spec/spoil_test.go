package spec

import (
	"errors"
	"os"
	"testing"

	"github.com/rondo-flow/rondo/yson"
	"pgregory.net/rapid"
)

// spoilt are the values that a field is replaced by.
func spoilt() *rapid.Generator[*yson.Node] {
	word := rapid.SampledFrom([]string{"", "in", "mid", "out", "sweep", "worker", "transform", "swift_map", "source", "farm_hash(k)", "/a", "1d", "true", "a.b", "\xff"})
	scalar := rapid.OneOf(
		rapid.Map(word, yson.String), rapid.Just(yson.Entity()), rapid.Map(rapid.Int64(), yson.Int64), rapid.Map(rapid.Float64(), yson.Double),
		rapid.Map(rapid.Bool(), yson.Boolean), rapid.Map(rapid.Uint64(), yson.Uint64))
	list := rapid.Custom(func(t *rapid.T) *yson.Node { return yson.List(rapid.SliceOfN(scalar, 0, 3).Draw(t, "items")...) })
	entries := rapid.Custom(func(t *rapid.T) *yson.Node {
		n := yson.Map()
		for key, value := range rapid.MapOfN(word, rapid.OneOf(scalar, list), 0, 3).Draw(t, "entries") {
			n.Map = append(n.Map, yson.Entry{Key: key, Value: value})
		}
		return n
	})
	return rapid.OneOf(scalar, list, entries)
}

// spoil replaces or removes one value somewhere below n.
func spoil(t *rapid.T, n *yson.Node) {
	switch size := len(n.Map) + len(n.List); {
	case size == 0 || rapid.IntRange(0, 9).Draw(t, "stop") == 0:
		*n = *spoilt().Draw(t, "value")
	default:
		i := rapid.IntRange(0, size-1).Draw(t, "which")
		switch {
		case i >= len(n.Map):
			spoil(t, n.List[i-len(n.Map)])
		case rapid.IntRange(0, 9).Draw(t, "remove") == 0:
			n.Map = append(n.Map[:i:i], n.Map[i+1:]...)
		default:
			spoil(t, n.Map[i].Value)
		}
	}
}

// TestSpoiltSpecsHaveProblemsAndNeverPanic spoils valid specifications in a few
// places. What is still valid can be stored and filled in; everything else has
// problems with words.
func TestSpoiltSpecsHaveProblemsAndNeverPanic(t *testing.T) {
	flights, err := os.ReadFile("testdata/flights/pipeline.yson")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{rulesBase, string(flights)}).Draw(t, "base")
		root, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			spoil(t, root)
		}
		s, err := FromNode("spoilt.yson", root)
		var problems yson.Problems
		switch {
		case err == nil:
			survives(t, s)
		case !errors.As(err, &problems) || len(problems) == 0 || problems[0].Message == "":
			t.Fatalf("%#v", err)
		}
	})
}

func survives(t *rapid.T, s *Spec) {
	if _, err := Stored(s.Name, s.Path, s.StaticText, s.DynamicText); err != nil {
		t.Fatalf("valid, but not when stored: %v", err)
	}
	if _, err := FromNode(s.Path, s.Effective()); err != nil {
		t.Fatalf("valid, but not with everything filled in: %v\n%s", err, yson.EncodePretty(s.Effective()))
	}
}
