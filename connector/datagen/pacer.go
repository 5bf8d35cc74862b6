package datagen

import (
	"context"
	"time"
)

// pacer gives out rows at a rate, in groups: as many at once as take 10 ms.
type pacer struct {
	group int           // 0: no rate
	every time.Duration // between groups

	ready int       // rows of the group that is out
	next  time.Time // when the next group comes
}

const (
	// groupTime is how long the shortest group takes.
	groupTime = 10 * time.Millisecond
	// debt is how much of the time in which nothing was taken is made up for.
	debt = time.Second
)

func newPacer(rate float64) pacer {
	if rate == 0 {
		return pacer{}
	}
	group := max(1, int(rate*groupTime.Seconds()))
	// Rates are at most 1e9, and anything beyond years is one.
	every := min(float64(group)/rate, (100 * 365 * 24 * time.Hour).Seconds())
	return pacer{group: group, every: time.Duration(every * float64(time.Second))}
}

// wait returns how many rows may come now, at most n, when there is one.
func (p *pacer) wait(ctx context.Context, n int) (int, error) {
	for p.group > 0 && p.ready == 0 {
		now, err := after(ctx, 0)
		if err == nil && now.Before(p.next) {
			now, err = after(ctx, p.next.Sub(now))
		}
		if err != nil {
			return 0, err
		}
		switch {
		case p.next.IsZero():
			p.next = now
		case now.Sub(p.next) > debt:
			p.next = now.Add(-debt)
		}
		p.ready, p.next = p.group, p.next.Add(p.every)
	}
	if p.group > 0 {
		n = min(n, p.ready)
	}
	return n, nil
}

// took takes n rows.
func (p *pacer) took(n int) { p.ready -= n }

// after waits and returns the time.
func after(ctx context.Context, d time.Duration) (time.Time, error) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case now := <-t.C:
		return now, nil
	}
}
