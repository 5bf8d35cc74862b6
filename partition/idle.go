package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// idleness passes over the producers of an input stream that bring nothing (D-17).
// The reader decides, by its own clock, since a producer that never started or that
// fails again and again cannot tell.
type idleness struct {
	Idle
	watermark int64         // of producers that are passed over
	lifted    time.Duration // when it was last moved on
	looked    time.Duration // when it was last known who was held back
	// stalled: too many are idle for all of them to be passed over, and too few for
	// the source to be quiet.
	stalled bool
}

// passOver finds the producers that are idle: they have brought nothing for a time,
// and nothing of theirs waits here.
func (s *inputStream) passOver(now visit.Instant, b *inbox) {
	if s.idle == nil {
		return
	}
	idle, active := 0, len(s.producers)-s.states[store.Finished]
	for i := range s.producers {
		p := &s.producers[i]
		if p.holds {
			p.heard = now.Mono
		}
		if p.quiet(s.idle) {
			idle++
		}
	}
	few := idle <= int(s.idle.MaxRatio*float64(len(s.producers)))
	s.idle.stalled = !few && idle < active
	if idle > 0 && !s.idle.stalled && !b.gap {
		s.idle.lift(now)
	}
	for i := range s.producers {
		s.producers[i].idle = !s.idle.stalled && !b.gap && s.producers[i].quiet(s.idle)
		s.bound(i)
	}
}

// timePassed notes which producers cannot bring what they have, and up to when that is
// known.
func (s *inputStream) timePassed(known time.Duration, held []Held) {
	if s.idle == nil {
		return
	}
	s.idle.looked = max(s.idle.looked, known)
	for _, h := range held {
		if i, ok := s.index[h.Producer]; ok {
			p := &s.producers[i]
			p.held, p.heard = h.Held, max(p.heard, h.At)
		}
	}
}

// HeldBack tells that the source has rows that must not be taken: a target is full
// (D-18), or it waits for others. Readers do not take its silence for idleness (D-17).
func (m *Machine) HeldBack() bool {
	return len(m.source.batches) > 0 && (m.heldBack(m.source.id) || m.source.ahead() || m.source.early())
}

// quiet tells that a producer has brought nothing for a time, and could have.
func (p *producer) quiet(i *idleness) bool {
	return p.state != store.Finished && !p.holds && !p.held && i.looked-p.heard >= i.After
}

// lift moves the watermark on with the clock, in steps: each is told to readers.
func (i *idleness) lift(now visit.Instant) {
	if i.lifted != 0 && now.Mono-i.lifted < i.step() {
		return
	}
	i.lifted = max(now.Mono, 1)
	i.watermark = max(i.watermark, now.Wall-int64(i.Bound))
}

func (i *idleness) step() time.Duration { return max(i.After/2, time.Millisecond) }

// idleAt is when the time alone changes something.
func (s *inputStream) idleAt(now visit.Instant) (at time.Duration, ok bool) {
	if s.idle == nil || s.finished {
		return 0, false
	}
	for i := range s.producers {
		p := &s.producers[i]
		next := p.heard + s.idle.After
		switch {
		case p.held:
			next = now.Mono + s.idle.After // it may be let go meanwhile
		case next <= now.Mono && next > s.idle.looked:
			continue // the driver comes when more is known
		case p.state == store.Finished || s.idle.stalled && next <= now.Mono:
			continue
		case next <= now.Mono:
			next = max(s.idle.lifted+s.idle.step(), now.Mono+time.Millisecond)
		}
		if !ok || next < at {
			at, ok = next, true
		}
	}
	return at, ok
}

// wakeIdle makes the driver come back when a producer has become idle.
func (m *Machine) wakeIdle(now visit.Instant, r *Ready) {
	for _, in := range m.inputs {
		if at, ok := in.idleAt(now); ok {
			r.wake(at)
		}
	}
}

// stalls names the inputs of which too many producers are idle.
func (m *Machine) stalls() (streams []string) {
	for _, in := range m.inputs {
		if in.idle != nil && in.idle.stalled {
			streams = append(streams, in.id)
		}
	}
	return slices.Clip(streams)
}
