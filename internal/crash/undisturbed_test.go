package crash

import (
	"fmt"
	"testing"
)

func TestFiguresAreExactWithAnyNumberOfPartitions(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 16} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			t.Parallel()
			p := newJob(t, seed(), shape{partitions: n, rows: 50 + 10*n}).complete(orders{})
			t.Logf("%d points", p.lines)
		})
	}
}
