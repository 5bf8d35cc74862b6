package flow

import "github.com/rondo-flow/rondo/yson"

// Parameters are the free-form parameters of a function, source or sink, as
// the spec gives them.
type Parameters struct {
	node *yson.Node
	path string
}

// NewParameters wraps a node of the spec (nil for none) that stands at path.
func NewParameters(node *yson.Node, path string) Parameters { return Parameters{node, path} }

// Decode reads the parameters into a struct with `yson:"name"` tags. Fields
// keep what they held when the parameter is not given; unknown parameters,
// wrong types and values out of range are all reported, with their paths.
func (p Parameters) Decode(dst any) error {
	node := p.node
	if node == nil {
		node = yson.Map() // which lacks all that is required
	}
	return yson.Decode(node, p.path, dst).Err()
}

// Path says where in the spec the parameters stand, for errors.
func (p Parameters) Path() string { return p.path }

// Node returns the raw node, nil when there are no parameters.
func (p Parameters) Node() *yson.Node { return p.node }
