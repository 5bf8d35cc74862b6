package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// dynamicParameters is where a function's parameters that may change stand.
func dynamicParameters(computation string) string {
	return yson.Join("dynamic_spec.computations", computation, "processing_function_parameters")
}

// reconfigure gives a function of the computation its parameters that may change.
func (n *node) reconfigure(c calls, d *spec.DynamicComputation) error {
	switch {
	case c.reconfigure != nil:
		return c.reconfigure.Reconfigure(flow.NewParameters(d.FunctionParameters, dynamicParameters(n.id)))
	case d.FunctionParameters.IsSet():
		return fmt.Errorf("the function of %s takes no parameters while it runs, as one with a method Reconfigure does: remove them, or set spec.computations.%s.processing_function_parameters", n.id, n.id)
	default:
		return nil
	}
}

// sameFunction tells that neither of two orders gives the function other parameters.
func sameFunction(a, b *spec.DynamicComputation) bool {
	return bytes.Equal(text(a.FunctionParameters), text(b.FunctionParameters))
}

// checkReconfigure asks a function that is made for it alone whether it takes the
// parameters (KV-50).
func (n *node) checkReconfigure(d *spec.DynamicComputation) error {
	if n.factory == nil {
		return nil
	}
	f, err := made(n.factory(n.setup))
	if err == nil {
		err = n.reconfigure(callsOf(f), d)
	}
	if problems := (yson.Problems{}); err == nil || errors.As(err, &problems) {
		return err
	}
	return fmt.Errorf("%s: %w", dynamicParameters(n.id), err)
}
