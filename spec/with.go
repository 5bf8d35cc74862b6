package spec

import "github.com/rondo-flow/rondo/yson"

// With returns the specification with another value at a path below
// dynamic_spec, or, with nil, without the one given there: its default holds
// then. The path is as in [Set]. Problems have no positions, since the texts are
// no file's; s stays as it is (KV-50).
func (s *Spec) With(path string, value *yson.Node) (*Spec, error) {
	names, err := ParsePath(path)
	if err != nil {
		return nil, yson.One(nil, path, "%v", err)
	}
	if value.IsSet() {
		return s.with(func(root *yson.Node) error { return set(root, names, value) }, path)
	}
	given := false
	_, err = s.with(func(root *yson.Node) error {
		names = standing(root.Get("dynamic_spec"), names)
		given = at(root.Get("dynamic_spec"), names) != nil
		none := yson.Map()
		defer func() { *none = *yson.Entity() }() // and stays: a path that leads nowhere is refused
		return set(root, names, none)
	}, path)
	if err != nil || !given {
		return s, err
	}
	return s.with(func(root *yson.Node) error { return set(root, names, nil) }, path)
}

// at returns what is at a path, nil if nothing is.
func at(n *yson.Node, path []string) *yson.Node {
	for _, name := range path {
		n = n.Get(name)
	}
	return n
}

// with checks s with a change of its tree at a path.
func (s *Spec) with(change func(root *yson.Node) error, path string) (*Spec, error) {
	root, err := storedTree(s.Name, s.StaticText, s.DynamicText)
	if err != nil {
		return nil, err
	}
	unplace(root)
	if err := change(root); err != nil {
		return nil, yson.One(nil, path, "%v", err)
	}
	return FromNode(s.Path, root)
}
