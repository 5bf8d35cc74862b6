package visit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/internal/invariants"
)

var (
	flagSeeds = flag.Int("seeds", usualSeeds(), "how many generated histories to run")
	flagSeed  = flag.Uint64("seed", 1, "the first seed")
)

// usualSeeds is less where every step is checked and slow.
func usualSeeds() int {
	if invariants.Enabled {
		return 1000
	}
	return 4000
}

// op is one step of a history. What a and b mean depends on the kind and on
// the state at that step, so every list of ops is a legal history and a failing
// one can be shrunk by leaving steps out.
type op struct {
	kind opKind
	a, b uint32
}

type opKind int

// The kinds of steps, with how often each is drawn.
const (
	opTick opKind = iota
	opStepWall
	opList
	opRead
	opAnswer
	opCutShort
	opFail
	opOpen
	opWrite
	opTake
	opCommit
	opCrash
	opLostOutcome
	opSignal
	opParams
	opDrain
	opRepartition
	opRun
	opKinds
)

var opNames = [opKinds]string{"tick", "step wall", "list", "read", "answer", "cut short", "fail", "open", "write",
	"take", "commit", "crash", "lost outcome", "signal", "params", "drain", "repartition", "run-now"}

var opWeights = [opKinds]int{14, 1, 18, 8, 16, 4, 1, 10, 16, 14, 12, 2, 1, 2, 2, 1, 1, 1}

// history draws the steps of a seed.
func history(seed uint64) []op {
	rng := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for _, w := range opWeights {
		total += w
	}
	ops := make([]op, 60+rng.IntN(100))
	for i := range ops {
		ops[i] = op{a: rng.Uint32(), b: rng.Uint32()}
		for n := rng.IntN(total); n >= opWeights[ops[i].kind]; ops[i].kind++ {
			n -= opWeights[ops[i].kind]
		}
	}
	return ops
}

// TestHistories runs generated histories of lists, answers in any order, epochs
// that stay open, crashes, lost outcomes, signals, parameter changes and
// repartitions against a twin that keeps plain sets. The twin checks that a key
// present for a whole pass is visited in it (KV-31), committed visits are
// exactly once per pass (KV-13, KV-16), counters add up (KV-16), visits bring
// no old rows (KV-22), no event time is behind the announced watermark
// (KV-46), the final pass visits what was committed before it (KV-34), and
// that everything ends once faults stop.
func TestHistories(t *testing.T) {
	var sum tally
	for i := range *flagSeeds {
		seed := *flagSeed + uint64(i)
		ops := history(seed)
		counts, err := runHistory(seed, ops)
		if err != nil {
			ops, err = shrink(seed, ops, err)
			t.Fatalf("seed %d: %v\nsteps:\n%s\nrerun: go test ./visit -run TestHistories -seeds 1 -seed %d", seed, err, printOps(ops), seed)
		}
		sum.add(counts)
	}
	t.Logf("%d histories: %+v", *flagSeeds, sum)
	if *flagSeeds >= 1000 && slices.Contains([]int{sum.Passes, sum.Visits, sum.Late, sum.Crashes, sum.Finals, sum.Stale, sum.Stalls, sum.Repartitions, sum.Runs, sum.Paced}, 0) {
		t.Errorf("the histories never reach something they are meant to test: %+v", sum)
	}
}

// shrink leaves out steps as long as the history still fails.
func shrink(seed uint64, ops []op, err error) ([]op, error) {
	for size := len(ops) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(ops); {
			fewer := slices.Concat(ops[:at], ops[at+size:])
			if _, e := runHistory(seed, fewer); e != nil {
				ops, err = fewer, e
			} else {
				at += size
			}
		}
	}
	return ops, err
}

func printOps(ops []op) string {
	var b strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&b, "  {%s %d %d}\n", opNames[o.kind], o.a, o.b)
	}
	return b.String()
}

// tally counts what histories reached.
type tally struct {
	Passes, Visits, Stale, Late, Crashes, Finals, Stalls, Repartitions, Runs, Paced int
}

func (t *tally) add(o tally) {
	t.Passes += o.Passes
	t.Visits += o.Visits
	t.Stale += o.Stale
	t.Late += o.Late
	t.Crashes += o.Crashes
	t.Finals += o.Finals
	t.Stalls += o.Stalls
	t.Repartitions += o.Repartitions
	t.Runs += o.Runs
	t.Paced += o.Paced
}

// runHistory plays a history and then lets everything end. A panic of the
// machine is a failure like any other.
func runHistory(seed uint64, ops []op) (counts tally, err error) {
	w := newWorld(seed)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for i := 0; i < len(ops) && w.err == nil; i++ {
		w.step++
		w.play(ops[i])
		w.observe()
	}
	if w.err == nil {
		w.quiesce()
	}
	return w.tally, w.err
}
