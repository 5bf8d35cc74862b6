package crash

import (
	"strings"
	"testing"
	"time"
)

// passesWhileStalled is how many passes a test wants to see begin.
const passesWhileStalled = 6

// stall begins a life and waits until only the last line is left to read.
func (j *job) stall() *process {
	j.t.Helper()
	p := j.start(orders{Stall: true})
	if !p.await(stalled) {
		p.finish()
		j.t.Fatal("the source did not stall")
	}
	return p
}

// sweep waits until n passes began, none of which may be final.
func (p *process) sweep(n int) {
	p.t.Helper()
	for n > 0 {
		line, more := p.next()
		if !more {
			p.finish()
			p.t.Fatal("the job ended without its last line")
		}
		if strings.HasPrefix(line, "final pass") {
			p.t.Fatal("a final pass began before the last line was read")
		}
		if strings.HasPrefix(line, "pass") {
			n--
		}
	}
}

func TestFiguresAreExactWhenTheSourceStallsBeforeItsLastLine(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{rows: 200})
	p := j.stall()
	p.sweep(passesWhileStalled)
	p.release()
	j.check(p.finish())
}

func TestFiguresAreExactThroughKillsDuringAStall(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{rows: 200})
	for range 4 {
		p := j.stall()
		p.sweep(j.rng.IntN(passesWhileStalled))
		p.skip(j.rng.IntN(60))
		if !p.kill() {
			t.Fatal("the job ended without its last line")
		}
	}
	p := j.stall()
	p.sweep(passesWhileStalled)
	p.release()
	j.check(p.finish())
}

// TestFiguresAreExactThroughKillsAfterAStall: the last line is read just before a
// kill, and again after it if it was not committed.
func TestFiguresAreExactThroughKillsAfterAStall(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{rows: 200})
	p := j.stall()
	for range 5 {
		p.release()
		p.skip(j.rng.IntN(8))
		if !p.killAfter(j.random(2 * time.Millisecond)) {
			break
		}
		if p = j.start(orders{Stall: true}); !p.await(stalled) {
			break // the last line is committed
		}
	}
	p.reap()
	j.complete(orders{})
}
