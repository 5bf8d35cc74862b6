package fieldreport

import (
	"math/rand/v2"
	"sync"
)

// dice are random numbers for several goroutines.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newDice() *dice { return &dice{rng: rand.New(rand.NewPCG(*seed, 1))} }

func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

// one tells once in n times.
func (d *dice) one(n int) bool { return d.below(n) == 0 }
