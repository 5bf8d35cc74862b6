package crash

import (
	"strings"
	"testing"
)

// slowness is a consumer that works on only when its producers are held back by
// a full inbox, or are completed. With the product's limits, which this job
// does not reach, it begins when they are completed.
type slowness struct {
	name, who string
	shape     shape
	full      string // the point where an inbox becomes full
	times     int    // how often at least: else back-pressure did not act (D-18)
}

func slownesses() []slowness {
	return []slowness{
		{"function behind full inboxes", "function", shape{inbox: 150}, "full is routes ", 10},
		{"sink behind full inboxes", "sink", shape{inbox: 150}, "full is routes/sinks/", 10},
		{"function begins at the end of the file", "function", shape{rows: 200}, "", 0},
		{"sink begins when the last key is visited", "sink", shape{rows: 200}, "", 0},
	}
}

func TestFiguresAreExactWithASlowConsumer(t *testing.T) {
	t.Parallel()
	for _, slow := range slownesses() {
		t.Run(slow.name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, seed(), slow.shape)
			p := j.start(orders{Slow: slow.who})
			times := 0
			for line, more := p.next(); more; line, more = p.next() {
				if strings.HasPrefix(line, slow.full) {
					times++
				}
			}
			if times < slow.times {
				t.Errorf("an inbox was full %d times, want at least %d", times, slow.times)
			}
			j.check(p.finish())
		})
	}
}

func TestFiguresAreExactThroughRandomKillsWithASlowConsumer(t *testing.T) {
	t.Parallel()
	for _, slow := range slownesses() {
		t.Run(slow.name, func(t *testing.T) {
			t.Parallel()
			killOften(t, func(t *testing.T, seed uint64) *job { return newJob(t, seed, slow.shape) }, orders{Slow: slow.who})
		})
	}
}
