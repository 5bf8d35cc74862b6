package bench

import (
	"flag"
	"testing"
)

var bars = flag.Bool("bars", false, "a benchmark that misses what it is to reach fails: for a machine that does nothing else")

// missed tells that a benchmark did not reach what it is to reach. On a machine
// with other work that says nothing of the code.
func missed(b *testing.B, format string, args ...any) {
	b.Helper()
	if *bars {
		b.Errorf(format, args...)
		return
	}
	b.Logf("missed, see -bars: "+format, args...)
}
