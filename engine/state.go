package engine

import (
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/store"
)

// State is what a pipeline is about. One that a single process runs has none when it
// does not run: it is the same whether it was paused, stopped or killed, and goes on
// where it was.
type State string

const (
	// Running: it takes input and works.
	Running State = "working"
	// Draining: it was told to stop, and finishes what is in flight.
	Draining State = "draining"
	// Pausing: it was told to pause, or has nothing in flight any more, and ends.
	Pausing State = "pausing"
	// StatePaused: no worker of the cluster runs jobs.
	StatePaused State = "paused"
	// StateStopped: nor is anything in flight.
	StateStopped State = "stopped"
	// StateCompleted: nothing is left to do, ever.
	StateCompleted State = "completed"
)

// errPausing and errDraining say why a command is refused.
var (
	errPausing  = errors.New("the pipeline is pausing")
	errDraining = errors.New("the pipeline is draining")
	errNotAlone = errors.New("this process is one of the workers that run the pipeline: stop it for all of them with rondo stop, or cluster.Retarget")
)

// State returns what the pipeline is about. Errors: ErrNotRunning.
func (p *Pipeline) State() (State, error) {
	env, err := p.running()
	if err != nil {
		return "", err
	}
	return env.state(), nil
}

func (e *environment) state() State {
	target := store.ToWork
	if e.member != nil {
		target = e.orders.Load().target
	}
	switch {
	case e.pausing.Load() || !runs(target):
		return Pausing
	case e.draining.Load() || target == store.ToDrain:
		return Draining
	default:
		return Running
	}
}

// working refuses what only a pipeline can do that goes on working.
func (e *environment) working(what string) error {
	switch e.state() {
	case Pausing:
		return fmt.Errorf("%w: %s only while it works; start it again first", errPausing, what)
	case Draining:
		return fmt.Errorf("%w: %s only while it works; start it again when it has stopped", errDraining, what)
	default:
		return nil
	}
}
