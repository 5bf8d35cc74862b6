package main

import (
	"slices"
	"testing"
	"time"
)

// TestSignalsAtOnceAreOneRequest: what comes with the first signal is no second
// Ctrl-C, and what comes later is one.
func TestSignalsAtOnceAreOneRequest(t *testing.T) {
	for _, c := range []struct {
		at   []time.Duration
		want []request
	}{
		{[]time.Duration{0}, []request{stop}},
		{[]time.Duration{0, 0, time.Millisecond}, []request{stop, again, again}},
		{[]time.Duration{0, 299 * time.Millisecond, 300 * time.Millisecond}, []request{stop, again, quit}},
		{[]time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond}, []request{stop, again, quit}},
		{[]time.Duration{0, time.Hour}, []request{stop, quit}},
	} {
		start := time.Unix(1e9, 0)
		var asked requests
		var got []request
		for _, after := range c.at {
			got = append(got, asked.at(start.Add(after)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("signals after %v ask for %v, want %v", c.at, got, c.want)
		}
	}
}
