package flowtest

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Smooth demands that visits are spread evenly over a span: cut into the given
// number of windows, each of them, and each of those between them by half a
// window, holds from least to most times its share of the visits. Use 10
// windows with 0.7 and 1.3 for the promise of an even pass (KV-26).
func Smooth(l *Log, s Span, windows int, least, most float64) error {
	f := findings{check: "SMOOTH"}
	halves := make([]int, 2*windows)
	all := 0
	for i := range l.Events {
		e := &l.Events[i]
		if at := e.At - s.From; e.visit() && at >= 0 && e.At < s.To {
			halves[int(float64(at)/float64(s.To-s.From)*float64(len(halves)))]++
			all++
		}
	}
	share := float64(all) / float64(windows)
	half := (s.To - s.From) / time.Duration(len(halves))
	for i := range len(halves) - 1 {
		n := float64(halves[i] + halves[i+1])
		from := s.From + time.Duration(i)*half
		if n < least*share || n > most*share {
			f.add("%.0f visits from %s to %s: want %.0f to %.0f, an even share being %.1f", n, from, from+2*half, least*share, most*share, share)
		}
	}
	if all == 0 {
		f.add("no visit from %s to %s", s.From, s.To)
	}
	return f.err()
}

// Percentile returns the time that the given part of the times, 0 to 1, do not
// exceed.
func Percentile(times []time.Duration, part float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// Isolate demands that the 99th percentile of message latencies with visits is
// at most factor times that without.
func Isolate(off, on []time.Duration, factor float64) error {
	without, with := Percentile(off, 0.99), Percentile(on, 0.99)
	if len(off) == 0 || len(on) == 0 {
		return fmt.Errorf("ISOLATE: %d latencies without visits and %d with: want some of both", len(off), len(on))
	}
	if ratio := float64(with) / float64(without); ratio > factor {
		return fmt.Errorf("ISOLATE: 99 of 100 messages take up to %s with visits and %s without, %.2f times as long: at most %.2f", with, without, ratio, factor)
	}
	return nil
}

// Memory is what a process holds at one moment.
type Memory struct {
	// Heap are the live bytes, Goroutines the number of goroutines.
	Heap       uint64
	Goroutines int
}

// MeasureMemory collects garbage and counts what is left.
func MeasureMemory() Memory {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{Heap: m.HeapAlloc, Goroutines: runtime.NumGoroutine()}
}

// Mem demands that after holds at most heap bytes and no goroutine more than
// before: compare the same pipeline early and late, or with few keys and many
// (KV-24).
func Mem(before, after Memory, heap uint64) error {
	f := findings{check: "MEM"}
	if after.Heap > before.Heap+heap {
		f.add("%d bytes are live, %d more than the %d before: at most %d more", after.Heap, after.Heap-before.Heap, before.Heap, heap)
	}
	if after.Goroutines > before.Goroutines {
		f.add("%d goroutines, %d before", after.Goroutines, before.Goroutines)
	}
	return f.err()
}
