package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestAStoreThatHasStoppedEndsTheRun: jobs are not started again for ever on a
// store that no restart heals, and the error says why it stopped.
func TestAStoreThatHasStoppedEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 600, 57)
		stopped := fmt.Errorf("%w: no space left on device", store.ErrStopped)
		commits := 0
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpCommit {
				commits++
			}
			switch {
			case commits == 10 && c.Op == storetest.OpCommit:
				return storetest.Lost(false) // the commit that met the full disk
			case commits >= 10:
				return storetest.Fails(stopped)
			default:
				return storetest.Fault{}
			}
		})
		_, err := r.pipeline().Run(t.Context(), s)
		if !errors.Is(err, store.ErrStopped) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("the run ended with %v", err)
		}
	})
}
