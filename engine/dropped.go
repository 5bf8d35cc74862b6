package engine

import (
	"bytes"
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// dropped names the parameters that were set since the file's dynamic spec was
// loaded and that the file, now that it has changed, has otherwise: what was set is
// no longer in force. Each has its value, # if it had been taken away.
func dropped(loaded, set, file string) (paths []string) {
	var trees [3]*yson.Node
	for i, text := range []string{loaded, set, file} {
		node, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			return nil // the store's texts were checked; what runs does not depend on it
		}
		trees[i] = node
	}
	return appendDropped(nil, "", trees[0], trees[1], trees[2])
}

func appendDropped(paths []string, path string, loaded, set, file *yson.Node) []string {
	switch {
	case same(loaded, set) || same(set, file):
		return paths
	case isMap(set) && (isMap(loaded) || !loaded.IsSet()):
		for _, name := range keys(loaded, set) {
			paths = appendDropped(paths, yson.Join(path, name), loaded.Get(name), set.Get(name), file.Get(name))
		}
		return paths
	default:
		return append(paths, path+"="+shownValue(set))
	}
}

func same(a, b *yson.Node) bool {
	return a.IsSet() == b.IsSet() && (!a.IsSet() || bytes.Equal(yson.Encode(a), yson.Encode(b)))
}

func isMap(n *yson.Node) bool { return n.IsSet() && n.Kind == yson.KindMap }

func shownValue(n *yson.Node) string {
	if !n.IsSet() {
		return "#"
	}
	return string(yson.Encode(n))
}

// keys are those of both maps, sorted.
func keys(a, b *yson.Node) (all []string) {
	for _, n := range []*yson.Node{a, b} {
		if n.IsSet() {
			for _, e := range n.Map {
				all = append(all, e.Key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
