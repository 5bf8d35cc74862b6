package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onInterrupt calls first at the first Ctrl-C or SIGTERM, and leaves the process
// at the second. The function it returns ends that.
func onInterrupt(first func()) (ignore func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if n > 0 {
				os.Exit(exitQuit) // what is committed is durable, the rest is done again
			}
			first()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-gone
	}
}
