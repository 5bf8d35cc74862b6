package main

import (
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// display shows how far a pipeline is.
type display interface {
	// every is how often it wants to be told.
	every() time.Duration
	show(*engine.Status)
	close()
}

// watch tells the display of the status until the function that it returns is
// called, which closes the display.
func watch(status func() engine.Status, d display) (done func()) {
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(d.every())
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			if s := status(); len(s.Partitions) > 0 {
				d.show(&s)
			}
		}
	}()
	return func() {
		close(stop)
		<-gone
		d.close()
	}
}
