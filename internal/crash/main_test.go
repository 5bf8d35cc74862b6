package crash

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var (
	flagKills = flag.Int("kills", 8, "how often each random test kills its job; more than 12 kills are spread over several jobs")
	flagSeed  = flag.Uint64("seed", 0, "the seed of random moments, 0 draws one")
	flagKeep  = flag.Bool("keep", false, "keep the data folders of failed tests, and print where they are")
)

// TestMain makes the test binary a child when it is started with orders.
func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(ordersVariable); ok {
		os.Exit(child(text))
	}
	goleak.VerifyTestMain(m)
}

// seed is what the flag says, or a drawn one.
func seed() uint64 {
	if *flagSeed != 0 {
		return *flagSeed
	}
	return 1 + rand.Uint64N(1<<32)
}
