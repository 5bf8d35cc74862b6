package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// Budget says between two inputs whether the epoch goes on (D-20, KV-30).
// Messages come first, then timers, and leave visits the time of their share; visits
// then get what their share of the time used so far amounts to, with what is owed
// from former epochs. If no message is left over, visits may use up the epoch. One
// visit of each stream is always allowed.
//
// Visits that could use up the epoch still do not keep messages waiting: for
// their commit, if the epoch has some, or for the next epoch, once others have
// arrived. Then they end after their share, or Patience if that is more.
type Budget struct {
	// MaxBytes bounds input and output bytes, separately; Max is the longest
	// time.
	MaxBytes int
	Max      time.Duration
	// Share is the share of visits while messages wait, 0 when the epoch has no
	// visit.
	Share float64
	// Timers says that the epoch has timers, which come after messages and have
	// half of their time.
	Timers bool
	// Waiting says that messages or timers wait beyond those of the epoch.
	Waiting bool
	// Beside says that the epoch has messages or timers, which wait for its commit.
	Beside bool
	// Patience is how long messages wait for visits that are under way.
	Patience time.Duration
	// Credit is the time owed to visits, negative when they had too much.
	Credit time.Duration

	cut     bool // a message or timer of the epoch is left over, because its time was up
	arrived bool // input has come that no epoch has seen
}

// The bounds of patience: quick visits come along by the batch even if a commit
// takes no time, and nobody waits long for them if commits are slow.
const (
	leastPatience = 50 * time.Microsecond
	mostPatience  = time.Millisecond
)

// patience is how long messages wait for visits that are under way: a quarter of
// what they wait for a commit anyway.
func patience(commit time.Duration) time.Duration {
	return min(max(commit/4, leastPatience), mostPatience)
}

// MoreMessages tells whether another message may be taken, after messages took
// the given time.
func (b *Budget) MoreMessages(spent time.Duration, in, out int) bool {
	limit := b.beforeVisits()
	if b.Timers {
		limit /= 2
	}
	return b.more(spent, limit, in, out)
}

// MoreTimers tells whether another timer may be taken, after messages and timers
// took the given time and done timers were taken. One is always allowed.
func (b *Budget) MoreTimers(done int, spent time.Duration, out int) bool {
	return done == 0 || b.more(spent, b.beforeVisits(), 0, out)
}

// beforeVisits is the time of messages and timers.
func (b *Budget) beforeVisits() time.Duration { return time.Duration(float64(b.Max) * (1 - b.Share)) }

func (b *Budget) more(spent, limit time.Duration, in, out int) bool {
	more := spent < limit && in < b.MaxBytes && out < b.MaxBytes
	b.cut = b.cut || !more
	return more
}

// MoreVisits tells whether another visit of a stream may be taken, after messages
// and visits took the given times and done visits of it were taken. arrived tells
// that input has come since the epoch was cut.
func (b *Budget) MoreVisits(done int, messages, visits time.Duration, out int, arrived bool) bool {
	b.arrived = b.arrived || arrived
	if done == 0 {
		return true
	}
	return visits < b.visitTime(messages) && out < b.MaxBytes
}

// Idle tells whether visits use time that no message or timer of the partition
// waits for.
func (b *Budget) Idle() bool { return !b.shared() && !b.arrived && !b.Beside }

// shared says whether visits are held to their share.
func (b *Budget) shared() bool { return b.Waiting || b.cut }

func (b *Budget) visitTime(messages time.Duration) time.Duration {
	switch {
	case b.shared():
		return min(b.Credit+b.entitled(messages), b.Max)
	case !b.Idle():
		return min(max(b.entitled(messages), b.Patience), max(b.Max-messages, 0))
	default:
		return b.Max
	}
}

// entitled is the visit time that makes visits' share of the whole; if that is
// everything, it is the whole epoch's.
func (b *Budget) entitled(messages time.Duration) time.Duration {
	if b.Share >= 1 {
		return b.Max
	}
	return min(time.Duration(float64(messages)*b.Share/(1-b.Share)), 10*b.Max)
}

// settle carries what visits got too much or too little into the next epoch.
// The debt is bounded, so that one long handler call does not silence visits
// for long, and an idle time saves nothing up.
func (b *Budget) settle(messages, visits time.Duration) time.Duration {
	if b.Share == 0 || !b.shared() {
		return 0
	}
	owed := b.Credit + b.entitled(messages) - visits
	return min(max(owed, -10*b.Max), 10*b.Max)
}

// visitsFirst tells that visits have an epoch to themselves: they are owed more
// time than they get beside messages that take long each, since an epoch takes
// one of those whatever its time (KV-30). That goes on only as long as it pays
// off what is owed, so that messages never wait long.
func (m *Machine) visitsFirst(e *Epoch) bool {
	return len(e.Visits) > 0 && m.credit >= m.params.MaxEpoch/2 && !m.unpaid
}

// account notes what visits are owed after an epoch. Where none waits any more,
// none is owed anything.
func (m *Machine) account(now visit.Instant, p Processed) {
	e := m.open.epoch
	m.credit = e.Budget.settle(p.MessageTime, p.VisitTime)
	if !m.visitsWait(now) {
		m.credit = min(m.credit, 0)
	}
	m.unpaid = e.Inputs()+len(e.Timers) == 0 && p.VisitTime < m.params.MaxEpoch/2
}

// visitsWait tells whether a visit could be handed out now.
func (m *Machine) visitsWait(now visit.Instant) bool {
	return slices.ContainsFunc(m.visitors, func(v *visitor) bool {
		at, ready := m.visitsAt(now, v)
		return ready && at <= now.Mono
	})
}
