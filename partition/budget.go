package partition

import "time"

// Budget says between two inputs whether the epoch goes on (D-20, KV-30).
// Messages come first and leave visits the time of their share; visits then get
// what their share of the time used so far amounts to, with what is owed from
// former epochs. One visit is always allowed.
type Budget struct {
	// MaxBytes bounds input and output bytes, separately; Max is the longest
	// time.
	MaxBytes int
	Max      time.Duration
	// Share is the share of visits, 1 when no message waits beyond this epoch,
	// 0 when there is no visit.
	Share float64
	// Credit is the time owed to visits, negative when they had too much.
	Credit time.Duration
}

// MoreMessages tells whether another message may be taken, after messages took
// the given time.
func (b *Budget) MoreMessages(spent time.Duration, in, out int) bool {
	limit := b.Max
	if b.Share < 1 {
		limit = time.Duration(float64(b.Max) * (1 - b.Share))
	}
	return spent < limit && in < b.MaxBytes && out < b.MaxBytes
}

// MoreVisits tells whether another visit may be taken, after messages and
// visits took the given times and done visits were taken.
func (b *Budget) MoreVisits(done int, messages, visits time.Duration, out int) bool {
	if done == 0 {
		return true
	}
	return visits < b.visitTime(messages) && out < b.MaxBytes
}

func (b *Budget) visitTime(messages time.Duration) time.Duration {
	if b.Share >= 1 {
		return max(b.Max-messages, 0)
	}
	return min(b.Credit+entitled(b.Share, messages), b.Max)
}

// entitled is the visit time that makes visits' share of the whole s.
func entitled(s float64, messages time.Duration) time.Duration {
	if s >= 1 {
		return messages
	}
	return time.Duration(float64(messages) * s / (1 - s))
}

// settle carries what visits got too much or too little into the next epoch.
// The debt is bounded, so that one long handler call does not silence visits
// for long, and an idle time saves nothing up.
func (b *Budget) settle(messages, visits time.Duration) time.Duration {
	if b.Share >= 1 || b.Share == 0 {
		return 0
	}
	owed := b.Credit + entitled(b.Share, messages) - visits
	return min(max(owed, -10*b.Max), b.Max)
}
