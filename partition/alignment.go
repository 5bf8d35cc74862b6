package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// Alignment decides how far each source partition of a group may go in event time:
// no further than a drift beyond the least watermark of the group. Members that have
// ended do not count, nor do those that have brought nothing for so long that they
// are idle (D-17). It is pure; whoever shares it among jobs guards it.
type Alignment struct{ members []member }

type member struct {
	id        store.PartitionID
	watermark int64
	drift     time.Duration
	idleAfter time.Duration // 0: never
	heard     time.Duration
	ended     bool
}

// Join makes a partition a member. It is done for all partitions of the group before
// any of them reads, so that one that never starts counts.
func (a *Alignment) Join(now time.Duration, id store.PartitionID, drift, idleAfter time.Duration) {
	a.members = append(a.members, member{id: id, watermark: store.NoTime, drift: drift, idleAfter: idleAfter, heard: now})
}

// Report notes how far a member has come, and tells whether limits of others may
// have changed.
func (a *Alignment) Report(now time.Duration, id store.PartitionID, watermark int64, ended bool) bool {
	m := a.member(id)
	if m == nil || watermark <= m.watermark && ended == m.ended {
		return false
	}
	before := a.least(now)
	m.watermark, m.ended, m.heard = max(m.watermark, watermark), ended, now
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
		if m := &a.members[i]; !m.ended && !m.idle(now) {
			least = min(least, m.watermark)
		}
	}
	return least
}

func (m *member) idle(now time.Duration) bool { return m.idleAfter > 0 && now-m.heard >= m.idleAfter }

// changesAt is when the next member becomes idle, 0 for never.
func (a *Alignment) changesAt(now time.Duration) (at time.Duration) {
	for i := range a.members {
		m := &a.members[i]
		if next := m.heard + m.idleAfter; m.idleAfter > 0 && !m.ended && next > now && (at == 0 || next < at) {
			at = next
		}
	}
	return at
}
