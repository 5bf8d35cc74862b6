package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Set puts a value into the dynamic spec of the tree of a specification file.
// The assignment is path=value: a path below dynamic_spec as problems show it,
// with dots between names and quotes around a name that has a dot itself; a value
// in YSON, where words and what begins with a digit and is no number need no
// quotes. The value # takes away what the file gives. Whether the path and the
// value mean something is for [FromNode] to say; an error here is one of the
// notation.
func Set(root *yson.Node, assignment string) error {
	path, text, err := cutAssignment(assignment)
	if err != nil {
		return err
	}
	value, err := ParseValue(text)
	if err != nil {
		return err
	}
	return set(root, path, value)
}

func set(root *yson.Node, path []string, value *yson.Node) error {
	at, node := "dynamic_spec", child(root, "dynamic_spec")
	path = standing(node, path)
	for i, name := range path {
		if node.Kind != yson.KindMap {
			return fmt.Errorf("%s is %s and has no %s: set it as a whole", at, node.Kind, name)
		}
		at = yson.Join(at, name)
		if i == len(path)-1 {
			put(node, name, value)
		} else {
			node = child(node, name)
		}
	}
	return nil
}

// ParsePath takes a path below dynamic_spec apart, in the notation of [Set].
func ParsePath(text string) ([]string, error) {
	path, rest, err := cutPath(text)
	if err == nil && rest != "" {
		err = fmt.Errorf("the path goes on with %q: separate names by dots, and put quotes around a name with other signs in it", rest)
	}
	if err != nil {
		return nil, err
	}
	return checkPath(path)
}

// cutAssignment takes path=value apart.
func cutAssignment(text string) (path []string, value string, err error) {
	path, rest, err := cutPath(text)
	if err != nil {
		return nil, "", err
	}
	value, found := strings.CutPrefix(rest, "=")
	if !found {
		return nil, "", errors.New("there is no = in it: write path=value, such as computations.routes.key_visitor_streams.sweep.period=5s")
	}
	path, err = checkPath(path)
	return path, value, err
}

// cutPath takes the names off that are separated by dots.
func cutPath(text string) (path []string, rest string, err error) {
	for {
		name, after, err := cutName(text)
		if err != nil {
			return nil, "", err
		}
		path = append(path, name)
		if text = strings.TrimPrefix(after, "."); text == after {
			return path, after, nil
		}
	}
}

// cutName takes the first name off a path.
func cutName(text string) (name, after string, err error) {
	if quoted, found := strings.CutPrefix(text, `"`); found {
		name, after, found = strings.Cut(quoted, `"`)
		if !found {
			return "", "", errors.New(`a quote " is not closed`)
		}
		return name, after, nil
	}
	end := strings.IndexAny(text, ".=")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return "", "", fmt.Errorf("a name is missing before %q", text)
	}
	return text[:end], text[end:], nil
}

// checkPath allows a path to begin with dynamic_spec, as in the messages of
// problems, and takes that away.
func checkPath(path []string) ([]string, error) {
	if path[0] == "dynamic_spec" {
		path = path[1:]
	}
	switch {
	case len(path) == 0:
		return nil, errors.New("a path is missing: name a parameter of the dynamic spec")
	case path[0] == "spec":
		return nil, errors.New("only parameters of the dynamic spec can be set: change the file")
	default:
		return path, nil
	}
}

// ParseValue reads the value of an assignment: YSON, or else a plain text such
// as 5s. The value has no place in a file.
func ParseValue(text string) (*yson.Node, error) {
	if text == "" {
		return nil, errors.New(`the value is missing: write "" for an empty text and # for none`)
	}
	n, err := yson.Parse([]byte(text), yson.YSON)
	switch {
	case err == nil:
		unplace(n)
		return n, nil
	case strings.ContainsAny(text[:1], `{[<"`):
		return nil, fmt.Errorf("the value %s: %w", text, err)
	default:
		return yson.String(text), nil
	}
}

// unplace takes away the places in the assignment, which would be taken for
// places in the file.
func unplace(n *yson.Node) {
	n.Pos = yson.Pos{}
	for _, item := range n.List {
		unplace(item)
	}
	for _, entries := range [][]yson.Entry{n.Map, n.Attributes} {
		for i := range entries {
			entries[i].Pos = yson.Pos{}
			unplace(entries[i].Value)
		}
	}
}

// child returns the map at a key, made if there is nothing, or whatever is there.
func child(n *yson.Node, key string) *yson.Node {
	if c := n.Get(key); c.IsSet() {
		return c
	}
	c := yson.Map()
	put(n, key, c)
	return c
}

// put replaces, adds or, with the entity, removes an entry.
func put(n *yson.Node, key string, value *yson.Node) {
	n.Map = slices.DeleteFunc(n.Map, func(e yson.Entry) bool { return e.Key == key })
	if value.IsSet() {
		n.Map = append(n.Map, yson.Entry{Key: key, Value: value})
	}
}
