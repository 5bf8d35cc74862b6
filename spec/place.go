package spec

import "github.com/rondo-flow/rondo/yson"

// place is a path in the file together with the node there, or the nearest node
// above it: where a problem found after decoding is reported.
type place struct {
	node *yson.Node
	path string
}

func (p place) key(key string) place {
	next := place{node: p.node, path: yson.Join(p.path, key)}
	if child := p.node.Get(key); child != nil {
		next.node = child
	}
	return next
}

// keys descends several keys.
func (p place) keys(keys ...string) place {
	for _, key := range keys {
		p = p.key(key)
	}
	return p
}

// item returns the place of a word in the list at p; p itself if the list does
// not have it.
func (p place) item(word string) place {
	if p.node == nil {
		return p
	}
	for i, n := range p.node.List {
		if n.Text == word {
			return place{node: n, path: yson.Index(p.path, i)}
		}
	}
	return p
}

// all returns the places that are there below p, in the order of the text; the
// key * stands for every one.
func (p place) all(keys []string) []place {
	switch {
	case p.node == nil:
		return nil
	case len(keys) == 0:
		return []place{p}
	}
	var found []place
	for _, entry := range p.node.Map {
		if keys[0] == "*" || keys[0] == entry.Key {
			found = append(found, place{node: entry.Value, path: yson.Join(p.path, entry.Key)}.all(keys[1:])...)
		}
	}
	return found
}

// raw returns the node at exactly the key, nil if there is none.
func (p place) raw(key string) *yson.Node { return p.node.Get(key) }

// isEmptyText reports whether the node at the key is the empty string.
func (p place) isEmptyText(key string) bool {
	n := p.raw(key)
	return n.IsSet() && n.Kind == yson.KindString && n.Text == ""
}

// named returns the place of the last map with that name in the list at p; p
// itself if there is none.
func (p place) named(name string) place {
	if p.node == nil {
		return p
	}
	found := p
	for i, n := range p.node.List {
		if n.Get("name") != nil && n.Get("name").Text == name {
			found = place{node: n, path: yson.Index(p.path, i)}
		}
	}
	return found
}
