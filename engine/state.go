package engine

import (
	"errors"
	"fmt"
)

// State is what a running pipeline is about. One that does not run has none: it is
// the same whether it was paused, stopped or killed, and goes on where it was.
type State string

const (
	// Running: it takes input and works.
	Running State = "working"
	// Draining: it was told to stop, and finishes what is in flight.
	Draining State = "draining"
	// Pausing: it was told to pause, or has nothing in flight any more, and ends.
	Pausing State = "pausing"
)

// errPausing and errDraining say why a command is refused.
var (
	errPausing  = errors.New("the pipeline is pausing")
	errDraining = errors.New("the pipeline is draining")
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
	switch {
	case e.pausing.Load():
		return Pausing
	case e.draining.Load():
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
