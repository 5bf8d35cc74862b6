package partition

import (
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// systemTime follows the system times of the messages of an input stream, which are
// those of the epochs that emit them. The stream's system watermark is at or below
// every message that is still to be committed, to be read, or held here.
//
// Nothing of it is stored: a job hears of it anew, and what was said before a
// restart says nothing about the messages that come after it.
type systemTime struct {
	// passed: no message before it is on its way, when the driver last looked.
	passed int64
	// clear: of producers of which nothing is held, everything before it is
	// consumed, unless more of theirs is known to lie in the store.
	clear int64
	asked int64 // passed, when the read under way began
	// heads holds, for each producer, the first message that is held of it.
	heads minTree
}

func newSystemTime(producers int) systemTime {
	return systemTime{passed: store.NoTime, clear: store.NoTime, asked: store.NoTime, heads: newMinTree(producers)}
}

// look takes over what the driver found. While rows may be stored that are not held,
// only a read tells more.
func (s *systemTime) look(passed int64, gap bool) {
	s.passed = passed
	if !gap {
		s.clear = max(s.clear, passed)
	}
}

func (s *systemTime) readBegan() { s.asked = s.passed }

func (s *systemTime) readDone() { s.clear = max(s.clear, s.asked) }

// head is the system time before which all of the lane is consumed, endOfTime for one
// of which nothing is known to be left.
func (l *lane) head() int64 {
	switch {
	case len(l.rows) > 0:
		return l.rows[0].system
	case l.more:
		return l.system
	default:
		return endOfTime
	}
}

// formerHead is the least head among lanes of former layouts, whose rows may be of
// any stream.
func (b *inbox) formerHead() int64 {
	least := endOfTime
	if b.former == 0 && !b.gap {
		return least
	}
	for _, l := range b.lanes {
		if l.former {
			least = min(least, l.head())
		}
	}
	return least
}

// systemWatermark is the system watermark of a stream. What a timer fires for, and
// what a visit is listed for, has the time of the clock.
func (m *Machine) systemWatermark(stream string, now visit.Instant) int64 {
	for _, in := range m.inputs {
		if in.id == stream {
			return min(in.system.clear, in.system.heads.least(), m.inbox.formerHead())
		}
	}
	for _, v := range m.visitors {
		if v.stream == stream {
			return v.machine.SystemWatermark(now)
		}
	}
	least := now.Wall
	for _, t := range m.timers {
		if t.Stream != stream {
			continue
		}
		for _, parent := range t.Parents {
			if state, _ := m.parent(parent, now); parent != stream && state != store.Finished {
				least = min(least, m.systemWatermark(parent, now))
			}
		}
	}
	return least
}
