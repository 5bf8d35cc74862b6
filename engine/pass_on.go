package engine

import (
	"context"
	"slices"

	"github.com/rondo-flow/rondo/flow"
)

// passOn is the function of passthrough computations: every message goes, as it is,
// into each output that depends on its stream.
type passOn struct{ outputs map[string][]string } // by input

func newPassOn(s flow.Setup) (flow.Function, error) {
	p := passOn{outputs: map[string][]string{}}
	for output, parents := range s.Parents {
		for _, input := range parents {
			p.outputs[input] = append(p.outputs[input], output)
		}
	}
	for _, outputs := range p.outputs {
		slices.Sort(outputs)
	}
	return p, nil
}

func (p passOn) OnMessage(_ context.Context, _ flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	for _, output := range p.outputs[m.StreamID] {
		if err := out.AddMessage(flow.OutputMessage{StreamID: output, Payload: m.Payload, EventTimestamp: m.EventTimestamp}); err != nil {
			return err
		}
	}
	return nil
}
