package engine

import (
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/store/storetest"
)

func TestEveryKeyEndsWithItsExactCount(t *testing.T) {
	for _, n := range []int{1, 3, 16} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			r := newRig(t, 2000, 123)
			r.partitions = n
			sum, err := r.pipeline().Run(t.Context(), storetest.NewModel())
			if err != nil {
				t.Fatal(err)
			}
			if !sum.Completed || sum.Messages != 2000 {
				t.Errorf("summary %+v: want it completed with 2000 messages", sum)
			}
			r.check()
		})
	}
}
