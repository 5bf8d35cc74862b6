package yson

import (
	"math"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// yamlConverter turns a syntax tree of the YAML library into nodes.
type yamlConverter struct {
	anchors map[string]yamlAnchor
	depth   int
	nodes   int // so far, aliases written out
}

type yamlAnchor struct {
	node  *Node
	nodes int
}

func (c *yamlConverter) value(n ast.Node) (*Node, error) {
	if n == nil {
		return Entity(), nil
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		return nil, yamlFault(n, "nested deeper than %d levels", maxDepth)
	}
	if err := c.count(n, 1); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		return c.anchor(n)
	case *ast.AliasNode:
		return c.alias(n)
	case *ast.MappingNode, *ast.MappingValueNode:
		return c.mapping(n)
	case *ast.SequenceNode:
		return c.sequence(n)
	default:
		return c.scalar(n)
	}
}

func (c *yamlConverter) count(n ast.Node, nodes int) error {
	c.nodes += nodes
	if c.nodes > maxYAMLNodes {
		return yamlFault(n, "more than %d values, aliases written out", maxYAMLNodes)
	}
	return nil
}

func (c *yamlConverter) scalar(n ast.Node) (*Node, error) {
	node := &Node{Pos: yamlPos(n)}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		node.Kind, node.Bool = KindBoolean, n.Value
	case *ast.IntegerNode:
		return node, yamlInteger(n, node)
	case *ast.FloatNode:
		node.Kind, node.Double = KindDouble, n.Value
	case *ast.InfinityNode:
		node.Kind, node.Double = KindDouble, n.Value
	case *ast.NanNode:
		node.Kind, node.Double = KindDouble, math.NaN()
	case *ast.StringNode:
		node.Kind, node.Text = KindString, n.Value
		if n.Token.Type == token.StringType && isJSONNumber(n.Value) { // plain, and yet no number
			return nil, yamlFault(n, "%s does not fit in 64 bits: quote it if it is text", n.Value)
		}
	case *ast.LiteralNode:
		node.Kind, node.Text = KindString, n.Value.Value
	default:
		return nil, yamlFault(n, "a YAML %s is not supported: use maps, lists, text, numbers, true, false and null", n.Type())
	}
	return node, nil
}

func yamlInteger(n *ast.IntegerNode, node *Node) error {
	switch v := n.Value.(type) {
	case int64:
		node.Kind, node.Int = KindInt64, v
	case uint64:
		node.Kind, node.Uint = KindUint64, v
		if v <= math.MaxInt64 {
			node.Kind, node.Int, node.Uint = KindInt64, int64(v), 0
		}
	default:
		return yamlFault(n, "%s does not fit in 64 bits", n.Token.Value)
	}
	return nil
}

func (c *yamlConverter) sequence(n *ast.SequenceNode) (*Node, error) {
	node := &Node{Kind: KindList, Pos: yamlPos(n)}
	for _, item := range n.Values {
		value, err := c.value(item)
		if err != nil {
			return nil, err
		}
		node.List = append(node.List, value)
	}
	return node, nil
}

// mapping reads a map; the library gives a map of one entry as that entry.
func (c *yamlConverter) mapping(n ast.Node) (*Node, error) {
	node := &Node{Kind: KindMap, Pos: yamlPos(n)}
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	if len(values) > 0 && node.Pos != (Pos{}) {
		node.Pos = min2(node.Pos, yamlPos(values[0].Key))
	}
	seen, merged := keySet{}, []*Node(nil)
	for _, v := range values {
		if v.Key.IsMergeKey() {
			from, err := c.mergeSources(v.Value)
			if err != nil {
				return nil, err
			}
			merged = append(merged, from...)
			continue
		}
		if err := c.entry(node, v, seen); err != nil {
			return nil, err
		}
	}
	for _, from := range merged {
		merge(node, from)
	}
	return node, nil
}

// min2 returns the earlier place: a block map has its first ":" for a token.
func min2(a, b Pos) Pos {
	if b.Line < a.Line || b.Line == a.Line && b.Column < a.Column {
		return b
	}
	return a
}

func (c *yamlConverter) entry(node *Node, v *ast.MappingValueNode, seen keySet) error {
	key, err := yamlKey(v.Key)
	if err != nil {
		return err
	}
	at := yamlPos(v.Key)
	if err := seen.add(&cursor{}, key, at); err != nil {
		return err
	}
	value, err := c.value(v.Value)
	if err != nil {
		return err
	}
	node.Map = append(node.Map, Entry{Key: key, Value: value, Pos: at})
	return nil
}

func yamlKey(n ast.MapKeyNode) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, nil
	default:
		return "", yamlFault(n, "a key must be plain or quoted text")
	}
}

// mergeSources returns the maps that a << key names, one or a list.
func (c *yamlConverter) mergeSources(n ast.Node) ([]*Node, error) {
	value, err := c.value(n)
	if err != nil {
		return nil, err
	}
	sources := []*Node{value}
	if value.Kind == KindList {
		sources = value.List
	}
	for _, source := range sources {
		if source.Kind != KindMap {
			return nil, yamlFault(n, "<< merges maps, got %s", source.Kind)
		}
	}
	return sources, nil
}

// merge adds the entries of from that node does not have.
func merge(node, from *Node) {
	for _, entry := range from.Map {
		if node.Get(entry.Key) == nil {
			node.Map = append(node.Map, entry)
		}
	}
}

func (c *yamlConverter) anchor(n *ast.AnchorNode) (*Node, error) {
	before := c.nodes
	node, err := c.value(n.Value)
	if err != nil {
		return nil, err
	}
	c.anchors[yamlName(n.Name)] = yamlAnchor{node: node, nodes: c.nodes - before}
	return node, nil
}

func (c *yamlConverter) alias(n *ast.AliasNode) (*Node, error) {
	name := yamlName(n.Value)
	anchor, ok := c.anchors[name]
	if !ok {
		return nil, yamlFault(n, "the alias *%s has no anchor &%s before it", name, name)
	}
	return anchor.node, c.count(n, anchor.nodes)
}

func yamlName(n ast.Node) string {
	if n == nil {
		return ""
	}
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return ""
}
