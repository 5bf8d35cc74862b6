package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A store is silent once it has given no answer for a while, however it does not
// answer; one that is slow, or answers now and then, is waited for.
func TestAStoreIsSilentAfterAWhileWithoutAnAnswer(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	refuses := func(context.Context) error { return errors.New("closed") }
	slow := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(9 * time.Second):
			return nil
		}
	}
	n := 0
	seldom := func(context.Context) error {
		if n++; n%5 == 0 {
			return nil
		}
		return errors.New("restarting")
	}
	for name, c := range map[string]struct {
		ask   func(context.Context) error
		after time.Duration // 0: never
	}{"it hangs": {hangs, 10 * time.Second}, "it refuses": {refuses, 10 * time.Second}, "it is slow": {slow, 0}, "it answers now and then": {seldom, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				is := silent(ctx, c.ask)
				if spent := time.Since(began); is != (c.after > 0) || is && spent != c.after {
					t.Errorf("silent: %v, after %s", is, spent)
				}
			})
		})
	}
}
