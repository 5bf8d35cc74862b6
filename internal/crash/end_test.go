package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// readsTheEnd is the point where the end of the file is read, and nobody knows
// of it yet.
const readsTheEnd = "^read .* the end$"

// TestFiguresAreExactThroughKillsAfterTheEndOfTheFile kills a job at each point
// of its end, twice in a row: the first life knows that more than the end was
// read, the second finds it so in the store.
func TestFiguresAreExactThroughKillsAfterTheEndOfTheFile(t *testing.T) {
	t.Parallel()
	base := newJob(t, seed(), shape{rows: 200})
	base.killAt(readsTheEnd)
	for name, point := range map[string]string{
		"the end is read again":                 readsTheEnd,
		"before the source's last commit":       "^before commit of reader .* finished",
		"after the source's last commit":        "^after commit of reader .* finished",
		"at the first final visit":              "^final pass",
		"before a commit with final visits":     "^before commit of routes .* finished",
		"after a partition's last visits":       "^after commit of routes .* finished",
		"before a partition is completed":       "^before commit of routes .* done",
		"after a partition is completed":        "^after commit of routes .* done",
		"between write and commit of snapshots": "^after write of snapshots",
		"between write and commit of evicted":   "^after write of evicted",
		"before the last commit of a sink":      "^before commit of routes/sinks/.* done",
		"after the last commit of a sink":       "^after commit of routes/sinks/.* done",
		"after the summary":                     "^{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := base.copy(t)
			if !j.killAt(point) {
				t.Fatalf("%s was not reached", point)
			}
			j.killAt(point) // unless it is past for all partitions
			j.complete(orders{})
		})
	}
}

// TestFiguresAreExactThroughKillsBeforeAnythingIsConsumed: the file is read to
// its end, and all of it waits in the inboxes.
func TestFiguresAreExactThroughKillsBeforeAnythingIsConsumed(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{rows: 200})
	late := orders{Slow: "function", Hold: "^after commit of reader .* finished", Nth: 1}
	if p := j.start(late); !p.await(held) || !p.kill() {
		t.Fatal("the job ended before its source")
	}
	for _, point := range []string{"^after generation of routes ", "^inbox of routes ", "^before commit of routes .* takes ", "^after commit of routes .* takes "} {
		if !j.killAt(point) {
			t.Fatalf("%s was not reached", point)
		}
	}
	j.complete(orders{})
}

// killAt runs the job until a goroutine holds at a point, and kills it. It
// returns false if the job completed without.
func (j *job) killAt(point string) bool {
	j.t.Helper()
	p := j.start(orders{Hold: point, Nth: 1})
	if p.await(held) {
		return p.kill()
	}
	p.finish()
	return false
}

// copy returns a job that goes on from a copy of the data folder.
func (j *job) copy(t *testing.T) *job {
	t.Helper()
	c := *j
	c.t, c.data = t, filepath.Join(folder(t), "data")
	if err := os.CopyFS(c.data, os.DirFS(j.data)); err != nil {
		t.Fatal(err)
	}
	return &c
}

// TestFiguresAreExactThroughKillsInTheFinalPass kills a job again and again
// while its final pass gets a bit further each time.
func TestFiguresAreExactThroughKillsInTheFinalPass(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 16} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			t.Parallel()
			j := newJob(t, seed(), shape{partitions: n, rows: 200})
			for range *flagKills {
				p := j.start(orders{})
				if !p.await("final pass") {
					p.finish() // it is over for all partitions
					break
				}
				p.skip(j.rng.IntN(12))
				if !p.killAfter(j.random(2 * time.Millisecond)) {
					break
				}
			}
			j.complete(orders{})
		})
	}
}
