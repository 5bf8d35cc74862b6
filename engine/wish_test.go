package engine

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestARepartitionUnderWayIsAnsweredWhenTheRunFails: it waited for inboxes to become
// shorter when a job met an error that nothing heals.
func TestARepartitionUnderWayIsAnsweredWhenTheRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 20, 5)
		gate := make(chan struct{})
		r.onMessage = func(flow.Message) error {
			<-gate
			return connector.Malformed(errors.New("it is no number"))
		}
		p := r.start(storetest.NewModel())
		for _, part := range p.plan.node("counter").partitions {
			p.env.exchange.add(part.ID, 1, holdBytes)
		}
		asked := make(chan error, 1)
		go func() { asked <- p.Repartition(t.Context(), "counter", 2) }()
		synctest.Wait()
		close(gate)
		if err := <-p.done; err == nil {
			t.Error("the run has not failed")
		}
		if err := <-asked; err == nil {
			t.Error("the partitions were replaced")
		}
	})
}
