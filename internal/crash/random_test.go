package crash

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// killsPerJob is how many kills a job of a random test gets at most: more of them
// leave its lives too short to get anywhere.
const killsPerJob = 12

// life is what a whole undisturbed job takes.
type life struct {
	lines int
	took  time.Duration
}

// measure runs one job to its end.
func measure(j *job, o orders) life {
	j.t.Helper()
	began := time.Now()
	p := j.start(o)
	s := p.finish()
	l := life{p.lines, time.Since(began)}
	j.check(s)
	return l
}

// killOften makes jobs, each with a seed, and kills them at random moments, until
// there were as many kills as the flag says, and completes each.
func killOften(t *testing.T, newJob func(*testing.T, uint64) *job, o orders) {
	t.Helper()
	first := seed()
	whole := measure(newJob(t, first), o)
	for left := *flagKills; left > 0; left -= killsPerJob {
		t.Run(fmt.Sprintf("seed %d", first), func(t *testing.T) {
			j, kills, most := newJob(t, first), 0, min(left, killsPerJob)
			for kills < most && j.killAtRandom(o, whole.part(most)) {
				kills++
			}
			j.complete(o)
			t.Logf("%d kills", kills)
		})
		first++
	}
}

// part is one of n parts of a life.
func (l life) part(n int) life { return life{l.lines / n, l.took / time.Duration(n)} }

// killAtRandom runs the job for about so much as given, and kills it. It returns
// false if the job was through before.
func (j *job) killAtRandom(o orders, about life) bool {
	j.t.Helper()
	if j.command != "" {
		killed := j.start(o).killAfter(j.random(2 * about.took))
		if j.rng.IntN(2) == 0 {
			j.audit() // the command does not
		}
		return killed
	}
	if j.rng.IntN(4) == 0 {
		return j.start(o).killAfter(j.random(2 * about.took))
	}
	n := 1 + j.rng.IntN(2*about.lines)
	if j.rng.IntN(4) == 0 {
		n = 1 + j.rng.IntN(20+8*j.shape.partitions) // while it starts
	}
	if j.rng.IntN(3) == 0 {
		p := j.start(o)
		p.skip(n)
		return p.kill()
	}
	o.Nth = n
	p := j.start(o)
	p.await(held)
	if j.rng.IntN(2) == 0 {
		return p.kill()
	}
	return p.killAfter(j.random(3 * time.Millisecond)) // the other partitions go on
}

func (j *job) random(below time.Duration) time.Duration {
	return time.Duration(j.rng.Int64N(int64(below)))
}

func TestFiguresAreExactThroughKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 16} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			t.Parallel()
			killOften(t, func(t *testing.T, seed uint64) *job { return newJob(t, seed, shape{partitions: n, rows: 50 + 10*n}) }, orders{})
		})
	}
}

func TestFiguresAreExactThroughRandomKillsOfTheCommand(t *testing.T) {
	t.Parallel()
	command := buildCommand(t)
	killOften(t, func(t *testing.T, seed uint64) *job {
		j := newJob(t, seed, shape{})
		j.command = command
		return j
	}, orders{})
}

// buildCommand builds rondo.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rondo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/rondo").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}
