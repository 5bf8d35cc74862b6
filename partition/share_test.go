package partition

import (
	"strconv"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// TestStreamsShareFairly: several visit streams that always have visits, beside
// messages that always wait, get the same number each, and together their share
// of the time (KV-30).
func TestStreamsShareFairly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		streams := []string{"a", "a b", "a b c"}[rapid.IntRange(0, 2).Draw(rt, "streams")]
		d := newDrive(t, "s", streams, func(d *drive) {
			for n := range 1200 {
				d.states[visit.Key{Hash: uint64(n % 100), Bytes: strconv.Itoa(n)}] = map[string]string{"/s": "x"}
			}
			d.cost = time.Duration(rapid.IntRange(3, 10).Draw(rt, "cost")) * time.Millisecond
			d.cfg.Params.VisitShare = rapid.Float64Range(0.1, 0.6).Draw(rt, "share")
		})
		for range 7 {
			d.send("s", many(100)...)
		}
		d.run(300 * time.Millisecond) // enough for all streams to have visits ready
		before, messages := len(d.visits), d.machine.Status(d.now).Totals.Messages
		counts := map[string]int{}
		for d.machine.Status(d.now).Waiting > 100 {
			d.run(100 * time.Millisecond)
		}
		for _, v := range d.visits[before:] {
			counts[v.stream]++
		}
		least, most := len(d.visits), 0
		for _, v := range d.cfg.Visitors {
			least, most = min(least, counts[v.Config.Stream]), max(most, counts[v.Config.Stream])
		}
		if least == 0 || most > least+least/4+10 {
			rt.Fatalf("visits by stream: %v", counts)
		}
		taken := float64(len(d.visits) - before)
		share := taken / (taken + float64(d.machine.Status(d.now).Totals.Messages-messages))
		oneEach := float64(len(d.cfg.Visitors)) * float64(d.cost) / float64(d.cfg.Params.MaxEpoch) // of one visit each
		if share < d.cfg.Params.VisitShare-0.05 || share > max(d.cfg.Params.VisitShare, oneEach)+0.05 {
			rt.Fatalf("visits got %.2f of the time, their share is %.2f", share, d.cfg.Params.VisitShare)
		}
	})
}

// many makes messages of one key.
func many(n int) (list []message) {
	for range n {
		list = append(list, message{keyOf(0), "m"})
	}
	return list
}

func TestRunNowReachesEveryPartition(t *testing.T) {
	hourly := func(d *drive) {
		d.put("/s", "x", spacedHashes(5, 40)...)
		d.cfg.Visitors[0].Params.Period, d.cfg.Visitors[0].Params.FillPeriod = time.Hour, 0
	}
	t.Run("KV-49 a command reads everything at once and the pace returns", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", hourly)
		d.run(time.Second)
		want(t, "visits before", len(d.visits), 0)
		d.step(RunNow{0, visit.Run{ID: 1}})
		d.run(10 * time.Second)
		want(t, "visits", hashesOf(d.visits), spacedHashes(5, 40))
		want(t, "running", d.status(0).Running, false)
	})
	t.Run("KV-49 a command that comes while an epoch is open waits for its commit", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", hourly)
		d.work()
		d.send("s", message{keyOf(5), "m"})
		d.work()
		r := d.machine.Ready(d.now)
		d.machine.Accept(d.now, r)
		e := d.process(r.Epoch)
		d.step(RunNow{0, visit.Run{ID: 1}})
		want(t, "running in the epoch", d.status(0).Running, false)
		d.commit(e)
		want(t, "running after it", d.status(0).Running, true)
	})
	t.Run("KV-49 a refused command changes nothing, and is repeated at each start", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", hourly)
		d.step(RunNow{0, visit.Run{ID: 1, Period: time.Minute}})
		d.step(RunNow{0, visit.Run{ID: 2}})
		want(t, "run", d.status(0).Run, "1 in 1m0s")
		d.run(20 * time.Second)
		d.restart()
		d.step(RunNow{0, visit.Run{ID: 1, Period: time.Minute}})
		want(t, "pass", d.status(0).Pass, 2)
		want(t, "running", d.status(0).Running, true)
		d.run(55 * time.Second)
		want(t, "visits", hashesOf(d.visits), spacedHashes(5, 40))
	})
}

func TestRepartitionWaitsForFinalPasses(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Standing
		want Verdict
		says string
	}{
		{"ordinary passes", Standing{Partitions: 8, Finite: true}, Go, ""},
		{"the first final pass", Standing{Computation: "c", Partitions: 8, Final: 1, Finite: true}, Wait,
			"the repartition of c waits until its final passes are over: 1 of 8 partitions are in theirs, 0 have completed"},
		{"some have completed", Standing{Computation: "c", Partitions: 8, Completed: 3, Finite: true}, Wait,
			"the repartition of c waits until its final passes are over: 0 of 8 partitions are in theirs, 3 have completed"},
		{"all have completed", Standing{Computation: "c", Partitions: 8, Completed: 8, Finite: true}, Drop,
			"c has completed and stays so: set finite=%false for a visit stream of it before you repartition it"},
		{"all have completed and it is started again", Standing{Partitions: 8, Completed: 8}, Go, ""},
		{"started again while a final pass goes on", Standing{Computation: "c", Partitions: 8, Completed: 7, Final: 1}, Wait,
			"the repartition of c waits until its final passes are over: 1 of 8 partitions are in theirs, 7 have completed"},
		{"some have completed before finite became false", Standing{Partitions: 8, Completed: 3}, Go, ""},
		{"a consumer is Completed", Standing{Computation: "c", Partitions: 8, Completed: 8, CompletedConsumer: "sink"}, Refuse,
			"c cannot start again, because sink, which reads its output, is Completed"},
		{"a consumer is Completed and nothing starts again", Standing{Partitions: 8, CompletedConsumer: "sink"}, Go, ""},
	} {
		t.Run("KV-15 "+c.name, func(t *testing.T) {
			verdict, says := c.s.Judge()
			want(t, "verdict", verdict, c.want)
			want(t, "reason", says, c.says)
		})
	}
}

// TestMessagesThatAreHeldBackTakeNoTimeFromVisits: while the target of messages is full,
// visits that lead elsewhere have the partition to themselves (D-18, KV-30).
func TestMessagesThatAreHeldBackTakeNoTimeFromVisits(t *testing.T) {
	for name, inputs := range map[string]string{"the only input": "s", "one of two": "s other"} {
		t.Run(name, func(t *testing.T) {
			d := newDrive(t, inputs, "sweep", func(d *drive) {
				var all []uint64
				for h := range uint64(100) {
					all = append(all, h)
				}
				d.put("/s", "x", all...)
				d.cost = 100 * time.Microsecond
				d.cfg.Outputs = []Output{{Stream: "out", Parents: []string{"s"}}}
				d.cfg.Params.HoldBytes = 100
			})
			d.step(Blocked{Outputs: []bool{true}})
			for range 5 {
				d.send("s", many(40)...)
			}
			d.run(time.Second)
			epochs, visits := len(d.orders), len(d.visits)
			if visits < 10*epochs {
				t.Errorf("%d visits in %d epochs", visits, epochs)
			}
		})
	}
}

// TestEveryPassIsCounted: without keys, many passes are completed between two commits.
func TestEveryPassIsCounted(t *testing.T) {
	d := newDrive(t, "", "sweep", func(d *drive) {
		d.cfg.Visitors[0].Params.Finite = false
		d.cfg.Visitors[0].Params.FillPeriod = 0
	})
	d.run(30 * time.Second)
	if counted, pass := d.cfg.Job.Totals.Passes, d.status(0).Pass; counted < pass/2 || counted >= pass {
		t.Errorf("%d passes are counted, and it is in pass %d", counted, pass)
	}
	d.restart()
	d.run(6 * time.Second)
	if counted, pass := d.cfg.Job.Totals.Passes, d.status(0).Pass; counted < pass/2 || counted >= pass {
		t.Errorf("after a restart, %d passes are counted, and it is in pass %d", counted, pass)
	}
}
