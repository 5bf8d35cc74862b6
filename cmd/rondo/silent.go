package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/rondo-flow/rondo/store"
)

const (
	// silentWait is how long a process that was told to stop waits for a store that does
	// not answer. Workers that were silent for so long are taken for dead anyway.
	silentWait = 10 * time.Second
	// silentAsk is how often it asks whether the store answers.
	silentAsk = time.Second
)

// quitIfSilent leaves the process if the store does not answer once told is done: its
// last epochs can then neither be committed nor given up, and whatever was on its way
// is settled when somebody reads what is true (D-3). The function it returns ends that.
func quitIfSilent(told context.Context, s store.Catalog, log *slog.Logger) (ignore func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-told.Done():
		}
		if silent(ctx, func(ctx context.Context) error { _, err := s.Pipeline(ctx); return err }) {
			log.Error("the store does not answer, quitting: "+committed, "waited", silentWait)
			os.Exit(exitQuit)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// silent asks until there was no answer for silentWait, or until ctx is done.
func silent(ctx context.Context, ask func(context.Context) error) bool {
	for last := time.Now(); ; {
		asked, cancel := context.WithDeadline(ctx, last.Add(silentWait))
		err := ask(asked)
		cancel()
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return false
		case err == nil:
			last = now
		case !now.Before(last.Add(silentWait)):
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(silentAsk):
		}
	}
}
