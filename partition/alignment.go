package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// Alignment decides how far each source partition of a group may go in event time:
// no further than a drift beyond the least watermark of the group. Members that have
// ended do not count, nor do those that are idle: that have brought nothing for a
// time, though nothing holds them back (D-17). It is pure; whoever shares it among jobs
// guards it.
type Alignment struct{ members []member }

// Progress is how far a member has come. Watermarks do not go back, and one that does
// is none.
type Progress struct {
	Watermark int64
	// Rows changes whenever the member brings rows, whatever those do to its watermark.
	Rows uint64
	// Held: it has rows that it must not take. Ended: it has no more. Idle: whoever
	// reports it finds it idle, which nobody else does of a member that joined without
	// a time.
	Held, Ended, Idle bool
}

type member struct {
	id store.PartitionID
	Progress
	drift     time.Duration
	idleAfter time.Duration // 0: never
	heard     time.Duration
}

// Join makes a partition a member. It is done for all partitions of the group before
// any of them reads, so that one that never starts counts.
func (a *Alignment) Join(now time.Duration, id store.PartitionID, drift, idleAfter time.Duration) {
	m := member{id: id, drift: drift, idleAfter: idleAfter, heard: now}
	m.Watermark = store.NoTime
	a.members = append(a.members, m)
}

// Report notes how far a member has come, and tells whether limits of others may
// have changed.
func (a *Alignment) Report(now time.Duration, id store.PartitionID, p Progress) bool {
	m := a.member(id)
	if m == nil {
		return false
	}
	if p.Watermark = max(p.Watermark, m.Watermark); p == m.Progress {
		return false
	}
	before := a.least(now)
	m.Progress, m.heard = p, now
	return a.least(now) != before
}

// Limit is how far a member's watermark may be for it to take more rows.
func (a *Alignment) Limit(now time.Duration, id store.PartitionID) Aligned {
	m := a.member(id)
	least := a.least(now)
	if m == nil || least == endOfTime {
		return Aligned{Limit: endOfTime}
	}
	limit := Aligned{Limit: least + int64(m.drift), Until: a.changesAt(now)}
	if limit.Limit < least { // an overflow
		limit.Limit = endOfTime
	}
	return limit
}

// Behind is the latest event time for somebody who stays behind all members that count,
// by a delay; there is no limit if none counts.
func (a *Alignment) Behind(now, delay time.Duration) Delayed {
	least := a.least(now)
	if least == endOfTime {
		return Delayed{Limit: endOfTime}
	}
	return Delayed{Limit: earlier(least, int64(delay)), Until: a.changesAt(now)}
}

func (a *Alignment) member(id store.PartitionID) *member {
	i := slices.IndexFunc(a.members, func(m member) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return &a.members[i]
}

func (a *Alignment) least(now time.Duration) int64 {
	least := endOfTime
	for i := range a.members {
		if m := &a.members[i]; !m.Ended && !m.idle(now) {
			least = min(least, m.Watermark)
		}
	}
	return least
}

func (m *member) idle(now time.Duration) bool {
	return m.Idle || m.idleAfter > 0 && !m.Held && now-m.heard >= m.idleAfter
}

// changesAt is when the next member becomes idle, 0 for never.
func (a *Alignment) changesAt(now time.Duration) (at time.Duration) {
	for i := range a.members {
		m := &a.members[i]
		if next := m.heard + m.idleAfter; m.idleAfter > 0 && !m.Ended && !m.Held && next > now && (at == 0 || next < at) {
			at = next
		}
	}
	return at
}
