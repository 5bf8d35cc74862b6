package function

import "github.com/rondo-flow/rondo/flow"

// Register adds all functions of this package to a registry.
func Register(r *flow.Registry) error {
	return r.Register("rollup", NewRollup)
}
