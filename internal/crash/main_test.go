package crash

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
	"go.uber.org/goleak"
)

var (
	flagKills  = flag.Int("kills", 8, "how often each random test kills its job; more than 12 kills are spread over several jobs")
	flagSeed   = flag.Uint64("seed", 0, "the seed of random moments, 0 draws one")
	flagFaults = flag.Int("faults", 6, "how many faults strike a cluster, over several jobs if they are many")
	flagSoak   = flag.Duration("soak", 0, "strike a cluster for so long, however many faults that are")
	flagLease  = flag.Duration("lease", time.Second, "how long the workers of a cluster may be silent")
	flagFreeze = flag.Duration("freeze", 3*time.Second, "how long workers of a cluster are frozen")
	flagKeep   = flag.Bool("keep", false, "keep the data folders of failed tests, and print where they are")
)

// TestMain makes the test binary a child when it is started with orders.
func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(ordersVariable); ok {
		os.Exit(child(text))
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(pgtest.StuckPipe))
}

// seed is what the flag says, or a drawn one.
func seed() uint64 {
	if *flagSeed != 0 {
		return *flagSeed
	}
	return 1 + rand.Uint64N(1<<32)
}
