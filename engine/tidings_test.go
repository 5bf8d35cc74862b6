package engine

import (
	"math"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// TestWhatIsBelievedOfPartitionsOfOthers: what their owner told last. Nobody tells
// anything of those that nobody has, or that have been replaced since: they are not held
// back, and system time waits for them. It does not wait for those that are Completed.
func TestWhatIsBelievedOfPartitionsOfOthers(t *testing.T) {
	news := &tidings{
		known: 10 * time.Second,
		owners: ownersOf([]store.Partition{
			{ID: 1, Worker: "a"}, {ID: 2, Worker: "b"}, {ID: 3}, {ID: 4, State: store.Completed}, {ID: 5, Worker: "b", State: store.Completed},
			{ID: 6, Worker: "gone"}, {ID: 7, Worker: "new"},
		}),
		told: map[string]told{"a": {8 * time.Second, 800}, "b": {7 * time.Second, 900}, "new": {0, store.NoTime}},
	}
	for name, c := range map[string]struct {
		news   *tidings
		of     []store.PartitionID
		known  time.Duration
		system int64
	}{
		"one":                         {news, []store.PartitionID{1}, 8 * time.Second, 800},
		"the least of two":            {news, []store.PartitionID{1, 2}, 7 * time.Second, 800},
		"nobody's":                    {news, []store.PartitionID{1, 3}, 8 * time.Second, store.NoTime},
		"completed":                   {news, []store.PartitionID{4, 5}, 10 * time.Second, math.MaxInt64},
		"of one that is gone":         {news, []store.PartitionID{6}, 10 * time.Second, store.NoTime},
		"of one that told nothing":    {news, []store.PartitionID{7}, 0, store.NoTime},
		"replaced":                    {news, []store.PartitionID{8}, 10 * time.Second, store.NoTime},
		"before anything was told":    {nil, []store.PartitionID{1}, 0, store.NoTime},
		"completed beside one not so": {news, []store.PartitionID{2, 4}, 7 * time.Second, 900},
	} {
		if known, system := c.news.of(c.of); known != c.known || system != c.system {
			t.Errorf("%s: known until %s, system time %d; want %s, %d", name, known, system, c.known, c.system)
		}
	}
}
