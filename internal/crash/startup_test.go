package crash

import (
	"fmt"
	"testing"
	"time"
)

// TestFiguresAreExactThroughRandomKillsDuringStartUp kills processes while they
// make the data folder, and later while they open what a job left in it.
func TestFiguresAreExactThroughRandomKillsDuringStartUp(t *testing.T) {
	t.Parallel()
	seed := seed()
	for left := *flagKills; left > 0; left -= killsPerJob {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			whole := newJob(t, seed, shape{}).startUp()
			j := newJob(t, seed, shape{})
			j.killStarting(killsPerJob, whole)
			for range 3 {
				p := j.start(orders{})
				p.skip(200 + j.rng.IntN(400))
				p.kill()
				j.killStarting(killsPerJob, whole)
			}
			j.complete(orders{})
		})
		seed++
	}
}

// startUp measures how long the first start takes until the store is open.
func (j *job) startUp() time.Duration {
	j.t.Helper()
	p := j.start(orders{})
	p.await("start")
	began := time.Now()
	p.await("opened")
	took := time.Since(began)
	p.kill()
	return took
}

// killStarting kills n starts that have come about so far as given.
func (j *job) killStarting(n int, about time.Duration) {
	j.t.Helper()
	for range n {
		p := j.start(orders{})
		p.await("start")
		p.killAfter(j.random(3 * about / 2))
	}
}
