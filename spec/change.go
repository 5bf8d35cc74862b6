package spec

import (
	"fmt"

	"github.com/rondo-flow/rondo/yson"
)

// Change returns a specification that differs from s in one parameter of the
// dynamic spec; s stays as it is. The path is that of an assignment (see [Set]).
// A nil value, or the entity, takes the setting away, so that the default holds.
// An error of the content is a [yson.Problems], each with its path and what is
// allowed (KV-50).
func Change(s *Spec, path string, value *yson.Node) (*Spec, error) {
	names, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	if value.IsSet() {
		return s.with(func(root *yson.Node) error { return set(root, names, value) })
	}
	given := false
	_, err = s.with(func(root *yson.Node) error {
		given = at(root.Get("dynamic_spec"), names) != nil
		none := yson.Map() // an entity that stays, so that a path which leads nowhere is refused
		defer func() { *none = *yson.Entity() }()
		return set(root, names, none)
	})
	if err != nil || !given {
		return s, err
	}
	return s.with(func(root *yson.Node) error { return set(root, names, yson.Entity()) })
}

// at returns what is at a path, nil if nothing is.
func at(n *yson.Node, path []string) *yson.Node {
	for _, name := range path {
		n = n.Get(name)
	}
	return n
}

// with checks s with a change of its tree.
func (s *Spec) with(change func(root *yson.Node) error) (*Spec, error) {
	static, err := yson.Parse([]byte(s.StaticText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("static spec of %s: %w", s.Name, err)
	}
	dynamic, err := yson.Parse([]byte(s.DynamicText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("dynamic spec of %s: %w", s.Name, err)
	}
	unplace(static) // places in these texts are nobody's
	unplace(dynamic)
	root := yson.Map(
		yson.Entry{Key: "name", Value: yson.String(s.Name)},
		yson.Entry{Key: "spec", Value: static},
		yson.Entry{Key: "dynamic_spec", Value: dynamic},
	)
	if err := change(root); err != nil {
		return nil, err
	}
	return FromNode(s.Path, root)
}
