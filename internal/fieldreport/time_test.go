package fieldreport

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flowtest"
)

func TestR47IdlePipelinesAreVisitedAllTheSame(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 8})
		w.fill(0, 2000, nil)
		w.start()
		w.wait(w.periods(20.5))
		w.passesAre(19, 20)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l),
			flowtest.Smooth(l, flowtest.Span{From: w.periods(2), To: w.periods(20)}, 180, 0.7, 1.3))
		t.Log(len(l.Events), w.store.commits.Load(), w.store.lists.Load(), time.Now())
	})
}
