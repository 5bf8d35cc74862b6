package visit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestPartitionsThatStartTogetherSpreadTheirReads starts 64 partitions at once,
// with first ticks spread as a driver spreads them, and looks at the moments of
// their first reads and of some later ones.
func TestPartitionsThatStartTogetherSpreadTheirReads(t *testing.T) {
	const parts = 64
	for _, period := range []time.Duration{2 * time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		t.Run(fmt.Sprintf("KV-26 period %s", period), func(t *testing.T) {
			var moments [3][]time.Duration
			for i := range parts {
				for nth, at := range readMoments(period, i, parts, len(moments)) {
					moments[nth] = append(moments[nth], at)
				}
			}
			for nth, at := range moments {
				slices.Sort(at)
				if busiest := crowd(at, (at[parts-1]-at[0])/8); busiest > parts/4 {
					t.Errorf("%d of %d partitions read number %d within an eighth of the time of all", busiest, parts, nth+1)
				}
				if at[parts-1]-at[0] < period/4000 {
					t.Errorf("read number %d of all partitions falls into %s", nth+1, at[parts-1]-at[0])
				}
			}
		})
	}
}

// readMoments returns when the first n reads of one of the partitions begin.
func readMoments(period time.Duration, i, parts, n int) (at []time.Duration) {
	r := newRig(nil, func(c *Config, p *Params) {
		c.Range, *p = HashRange(0, 1<<40), DefaultParams()
		p.Period = period
		c.FirstTick = p.Tick() * time.Duration(i) / time.Duration(parts)
	})
	start := r.now.Mono
	for len(at) < n {
		if l, ok := r.begin(); ok {
			at = append(at, r.now.Mono-start)
			r.v.Listed(r.now, l.Token, []Answer{{}})
			continue
		}
		wake, _ := r.v.WakeAt(r.now)
		r.tick(max(wake-r.now.Mono, 1))
	}
	return at
}

// crowd returns the most moments that lie within any stretch of this length.
func crowd(at []time.Duration, within time.Duration) (most int) {
	for i := range at {
		n, _ := slices.BinarySearch(at[i:], at[i]+within+1)
		most = max(most, n)
	}
	return most
}
