package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameRequest is how long after the first signal others mean the same: whoever
// signals a process and its group, as timeout does, sends it two at once.
const sameRequest = 300 * time.Millisecond

// request is what a signal asks for.
type request uint8

const (
	again request = iota // what was asked for already
	stop
	quit
)

// requests decides what each signal asks for.
type requests struct{ first time.Time }

// at takes a signal that came at a moment.
func (r *requests) at(now time.Time) request {
	switch {
	case r.first.IsZero():
		r.first = now
		return stop
	case now.Sub(r.first) < sameRequest:
		return again
	default:
		return quit
	}
}

// committed is what whoever runs a pipeline is told when its process quits.
const committed = "what is committed is safe, and the same command goes on from there"

// onInterrupt calls first at the first Ctrl-C or SIGTERM, and at the second leaves the
// process after last, if there is one. The function it returns ends that.
func onInterrupt(first, last func(), now func() time.Time) (ignore func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		var asked requests
		for {
			select {
			case <-done:
				return
			case <-signals:
			}
			switch asked.at(now()) {
			case stop:
				first()
			case quit:
				if last != nil {
					last()
				}
				os.Exit(exitQuit) // what is committed is durable, the rest is done again
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-gone
	}
}
