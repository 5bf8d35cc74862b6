package visit_test

import (
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// A driver in its simplest form: one source, a list that answers at once, and
// an epoch for what it found.
func Example() {
	cfg := visit.Config{Stream: "sweep", Range: visit.HashRange(0, 100), Buckets: 2, Generation: 1, Sources: 1}
	params := visit.DefaultParams()
	now := visit.Instant{Wall: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()}
	v := visit.New(cfg, params, visit.Stored{}, now)

	v.UpstreamCompleted(now, true) // nothing else will come: the first pass is the final one
	state := []visit.Key{{Hash: 7, Bytes: "a"}, {Hash: 60, Bytes: "b"}}
	for !v.Empty() {
		if l, ok := v.NextList(now); ok {
			v.AcceptList(now, l)
			var answer visit.Answer
			for _, key := range state {
				if l.Range.Contains(key) {
					answer.Keys = append(answer.Keys, visit.Found{Key: key})
				}
			}
			v.Listed(now, l.Token, []visit.Answer{answer})
		}
		v.EpochOpened(now)
		visits := v.NextVisits(now, nil, 100)
		for _, visit := range visits {
			fmt.Println("visit", visit.Key, "final:", visit.Final)
		}
		v.AcceptVisits(now, visit.Outcome{Delivered: len(visits)})
		_ = v.Delta() // what the epoch's transaction must write
		v.EpochCommitted(now)
	}
	fmt.Println(v.Summaries()[0].Counters)
	// Output:
	// visit 7:a final: true
	// visit 60:b final: true
	// seen=2 delivered=2 failed=0 gone=0
}
