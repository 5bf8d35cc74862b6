package engine

import (
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store/storetest"
)

// An outage of the store is a line for each partition that meets it, and one when it
// works again, however long it lasts.
func TestAnOutageIsOneLineForAPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r := newRig(t, 300, 20)
		r.log, r.period = &log, "1s"
		var out atomic.Bool
		p := r.start(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			switch {
			case !out.Load():
				return storetest.Fault{}
			case c.Op == storetest.OpCommit:
				return storetest.Lost(false)
			default:
				return storetest.Unavailable()
			}
		}))
		for range 2 {
			<-time.After(20 * time.Second)
			out.Store(true)
			<-time.After(2 * time.Minute)
			out.Store(false)
		}
		<-time.After(20 * time.Second)
		close(r.gate)
		p.must(<-p.done)
		r.check()
		lines := func(what string) map[string]int {
			n := map[string]int{}
			for _, m := range regexp.MustCompile(what+`".* (partition=\d+)`).FindAllStringSubmatch(log.String(), -1) {
				n[m[1]]++
			}
			return n
		}
		began, ended := lines("starting it again and again until the store answers"), lines("the store answers again")
		if len(began) < 3 {
			t.Errorf("only %d partitions tell of the outages", len(began))
		}
		for partition, n := range began {
			if n > 2 || ended[partition] != n {
				t.Errorf("%s tells %d times that two outages began, and %d times that they ended", partition, n, ended[partition])
			}
		}
		if all := strings.Count(log.String(), "\n"); all > 4*len(began)+5 {
			t.Errorf("%d lines:\n%s", all, log.String())
		}
	})
}
