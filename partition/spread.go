package partition

import (
	"math"
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// leastPortion is how long visits take that are worth an epoch of their own while
// they are on schedule; a commit's time is if that is more.
const leastPortion = time.Millisecond

// spread is how the waiting visits of a stream are spread over the time until
// their successors come (KV-26). In one go, a slice of every partition would take
// all processors at once: commits and reads of sources would wait for as long as
// that takes, and messages with them.
type spread struct {
	from, by time.Duration // monotonic
	visits   int           // to be handed out between the two
	portion  int           // of visits, for an epoch of their own
}

// rarely is the part of the time that visits may take in one go: it shows in no
// percentile that anybody looks at, and an idle partition that reads a few times a
// minute commits no more often (KV-23).
const rarely = 200

// spreadOf tells whether visits of a stream are spread: they take enough of the time,
// there is a time to spread them over, and they need less than half of that.
func (m *Machine) spreadOf(now visit.Instant, v *visitor) (s spread, ok bool) {
	if m.visitTime == 0 {
		return spread{}, false
	}
	listed, by, every, ok := v.machine.Spread()
	if !ok {
		return spread{}, false
	}
	p := max(leastPortion, m.commits)
	s = spread{from: max(listed, v.taken), by: by, visits: v.machine.Buffered(), portion: int(p/m.visitTime) + 1}
	work := time.Duration(s.visits) * m.visitTime
	if work < every/rarely {
		return spread{}, false
	}
	return s, 2*(work+work/p*m.commits+m.commits) < by-now.Mono
}

// due is how many of the visits have had their turn come: one as soon as any time
// has passed.
func (s spread) due(now time.Duration) int {
	return min(int(math.Ceil(float64(s.visits)*s.elapsed(now))), s.visits)
}

func (s spread) elapsed(now time.Duration) float64 {
	return float64(now-s.from) / float64(s.by-s.from)
}

// portionAt is when a portion of them is due.
func (s spread) portionAt() time.Duration {
	return s.from + time.Duration(math.Ceil(float64(s.by-s.from)*min(float64(s.portion)/float64(s.visits), 1)))
}

// noteVisits notes how long visits take, and when they were taken.
func (m *Machine) noteVisits(now visit.Instant, p Processed) {
	n := 0
	for i, o := range p.Visits {
		if o.Total() > 0 {
			n += o.Total()
			m.visitors[i].taken = now.Mono
		}
	}
	if n == 0 {
		return
	}
	took := p.VisitTime / time.Duration(n)
	if m.visitTime == 0 {
		m.visitTime = took
	}
	m.visitTime = (3*m.visitTime + took) / 4
}
