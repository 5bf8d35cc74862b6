package yson

import (
	"strconv"
	"strings"
)

// Kind tells what a [Node] holds.
type Kind uint8

// The kinds of nodes.
const (
	KindEntity Kind = iota // null
	KindBoolean
	KindInt64
	KindUint64
	KindDouble
	KindString
	KindList
	KindMap

	kindCount
)

var kindNames = [kindCount]string{
	"an entity", "a boolean", "an integer", "an unsigned integer", "a double", "a string", "a list", "a map",
}

// String returns the kind with its article, as used in messages.
func (k Kind) String() string {
	if k >= kindCount {
		return "unknown"
	}
	return kindNames[k]
}

// Pos is a place in the text a tree was parsed from: line and column from 1,
// columns in bytes. Data with marks of binary scalars has no lines: there Line is
// 0 and Column counts all bytes, from 1. The zero Pos is unknown.
type Pos struct{ Line, Column int }

// String returns the place as it stands in front of messages: line:column, or
// the offset in binary data, which counts from 0; empty if it is unknown.
func (p Pos) String() string {
	switch {
	case p.Line > 0:
		return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	case p.Column > 0:
		return "offset " + strconv.Itoa(p.Column-1)
	default:
		return ""
	}
}

// roughly says where something else in the text is.
func (p Pos) roughly() string {
	if p.Line > 0 {
		return "in line " + strconv.Itoa(p.Line)
	}
	return "at " + p.String()
}

// Node is one value of a tree. Kind says which field holds it. The nil *Node
// stands for an absent value: Get of it is nil.
type Node struct {
	Kind       Kind
	Bool       bool
	Int        int64
	Uint       uint64
	Double     float64
	Text       string // of a string: any bytes
	List       []*Node
	Map        []Entry // in the order of the text, keys distinct
	Attributes []Entry // in front of the value, keys distinct; mostly none
	Pos        Pos
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   string
	Value *Node
	Pos   Pos // of the key
}

// Get returns the value of key in a map, nil if n is no map or has no such key.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Map {
		if n.Map[i].Key == key {
			return n.Map[i].Value
		}
	}
	return nil
}

// IsSet reports whether n is there and is not the entity.
func (n *Node) IsSet() bool { return n != nil && n.Kind != KindEntity }

// Entity returns a null node.
func Entity() *Node { return &Node{Kind: KindEntity} }

// Boolean returns a boolean node.
func Boolean(v bool) *Node { return &Node{Kind: KindBoolean, Bool: v} }

// Int64 returns a signed integer node.
func Int64(v int64) *Node { return &Node{Kind: KindInt64, Int: v} }

// Uint64 returns an unsigned integer node.
func Uint64(v uint64) *Node { return &Node{Kind: KindUint64, Uint: v} }

// Double returns a floating-point node.
func Double(v float64) *Node { return &Node{Kind: KindDouble, Double: v} }

// String returns a string node.
func String(v string) *Node { return &Node{Kind: KindString, Text: v} }

// List returns a list node.
func List(items ...*Node) *Node { return &Node{Kind: KindList, List: items} }

// Map returns a map node; the keys must be distinct.
func Map(entries ...Entry) *Node { return &Node{Kind: KindMap, Map: entries} }

// Join returns the path of the keys, one below the other, below path: "a.b", or
// a."b.c" where a key is no plain word.
func Join(path string, keys ...string) string {
	for _, key := range keys {
		if !isPlainKey(key) {
			key = strconv.Quote(key)
		}
		if path != "" {
			key = path + "." + key
		}
		path = key
	}
	return path
}

// Split returns the keys of a path that [Join] made.
func Split(path string) (keys []string) {
	for path != "" {
		quoted, err := strconv.QuotedPrefix(path)
		if err != nil {
			quoted, _, _ = strings.Cut(path, ".")
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			key = quoted
		}
		keys, path = append(keys, key), strings.TrimPrefix(path[len(quoted):], ".")
	}
	return keys
}

// Index returns the path of item i of the list at path.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// isPlainKey allows what needs no quotes in a path: state names too.
func isPlainKey(key string) bool {
	for i := 0; i < len(key); i++ {
		if c := key[i]; !isWordByte(c) && c != '/' && c != ':' || c == '.' {
			return false
		}
	}
	return key != ""
}
