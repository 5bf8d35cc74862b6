package function

import (
	"errors"

	"github.com/rondo-flow/rondo/flow"
)

// Register adds all functions of this package to a registry.
func Register(r *flow.Registry) error {
	return errors.Join(r.Register("rollup", NewRollup), r.Register("mirror", NewMirror), r.Register("expire", NewExpire))
}
