package partition

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// spacedHashes returns step, 2*step, ... up to last.
func spacedHashes(step, last uint64) (out []uint64) {
	for h := step; h <= last; h += step {
		out = append(out, h)
	}
	return out
}

func want(t *testing.T, what string, got, expected any) {
	t.Helper()
	if g, e := fmt.Sprint(got), fmt.Sprint(expected); g != e {
		t.Errorf("%s: got %s, want %s", what, g, e)
	}
}

// following makes a drive with a visit stream that follows some of its inputs.
func following(t *testing.T, inputs string, upstream []string, hashes ...uint64) *drive {
	return newDrive(t, inputs, "sweep", func(d *drive) {
		if upstream != nil {
			d.cfg.Visitors[0].Upstream = upstream
		}
		d.put("/s", "x", hashes...)
	})
}

func TestCompletionCases(t *testing.T) {
	k8 := spacedHashes(5, 40)
	t.Run("FIN-09 a narrowed wait ignores other inputs", func(t *testing.T) {
		d := following(t, "s s2", []string{"s"}, k8...)
		d.take(1)
		d.complete("s")
		d.take(15)
		want(t, "visits", hashesOf(d.visits), append(k8[:1:1], sortedTwice(k8)[1:]...))
		want(t, "empty", d.status(0).Empty, true)
		d.run(500 * time.Millisecond)
		want(t, "visits in all", len(d.visits), 16)
		want(t, "the partition waits for its other input", d.finished, false)
	})
	t.Run("FIN-10 a narrowed wait waits for the stream it names", func(t *testing.T) {
		d := following(t, "s s2", []string{"s"}, 10, 20)
		d.complete("s2")
		d.take(6)
		want(t, "empty", d.status(0).Empty, false)
		want(t, "final", d.status(0).Final, false)
	})
	t.Run("FIN-11 an unset list waits for every input", func(t *testing.T) {
		d := following(t, "s s2", nil, 10, 20)
		d.complete("s")
		d.take(6)
		want(t, "empty", d.status(0).Empty, false)
		d.complete("s2")
		d.run(time.Second)
		want(t, "completed", d.finished, true)
	})
	t.Run("FIN-14 the predicate for one name", func(t *testing.T) {
		want(t, "others", completed(t, []string{"finite_keys"}, "infinite_keys", "source"), false)
		want(t, "the one", completed(t, []string{"finite_keys"}, "finite_keys"), true)
	})
	t.Run("FIN-15 the predicate for two names", func(t *testing.T) {
		both := []string{"finite_keys", "source"}
		want(t, "one of them", completed(t, both, "finite_keys"), false)
		want(t, "the other and a third", completed(t, both, "source", "infinite_keys"), false)
		want(t, "both", completed(t, both, "finite_keys", "source"), true)
		want(t, "of nothing", completed(t, []string{}), true)
	})
	t.Run("FIN-22 the last visit of each key sees its last message", func(t *testing.T) {
		d := newDrive(t, "keys", "sweep", func(d *drive) {
			d.cfg.Visitors[0].Params.Period = 5 * time.Second
			d.handle = func(c *call) {
				if c.visit != nil {
					n, _ := strconv.Atoi(c.state["/count"])
					c.state["/count"] = strconv.Itoa(n + 1)
				} else {
					c.state["/payload"] = c.payload
				}
			}
		})
		for _, version := range []string{"v1", "v2"} {
			var list []message
			for h := range uint64(20) {
				list = append(list, message{keyOf(h), version})
			}
			d.send("keys", list...)
		}
		d.complete("keys")
		d.run(240 * time.Second)
		want(t, "completed", d.finished, true)
		last := map[uint64]map[string]string{}
		for _, v := range d.visits {
			last[v.Key.Hash] = v.state
		}
		want(t, "keys visited", len(last), 20)
		for h, state := range last {
			want(t, "payload of "+strconv.FormatUint(h, 10), state["/payload"], "v2")
		}
	})
}

// sortedTwice returns every hash twice, in order.
func sortedTwice(hashes []uint64) []uint64 {
	return slices.Sorted(slices.Values(slices.Concat(hashes, hashes)))
}

// completed says whether a visit stream that follows these streams hears the
// signal once others are completed. Of the inputs, source is a source stream.
func completed(t *testing.T, follows []string, done ...string) bool {
	d := newDrive(t, "finite_keys infinite_keys", "sweep", func(d *drive) {
		d.cfg.Source = "source"
		d.cfg.Visitors[0].Upstream = follows
	})
	for _, stream := range done {
		if stream == "source" {
			d.step(SourceRead{End: true})
		} else {
			d.complete(stream)
		}
	}
	d.work()
	return d.status(0).Final
}

func TestVisitOnlyCases(t *testing.T) {
	auditors := func(t *testing.T) []*drive {
		var all []*drive
		for i := range 2 {
			all = append(all, newDrive(t, "", "audit", func(d *drive) {
				v := &d.cfg.Visitors[0]
				v.Config.Range = visit.Split(visit.HashRange(0, 100), 2)[i]
				v.Params.Period, v.Params.FillPeriod, v.Params.Finite = time.Second, 0, false
			}))
		}
		for i, d := range all {
			d.put("/row", "x", spacedHashes(10, 100)[5*i:5*i+5]...) // written after the start
		}
		return all
	}
	visits := func(all []*drive) (n int) {
		for _, d := range all {
			n += len(d.visits)
		}
		return n
	}
	t.Run("FIN-24 visits alone that are not finite never retire", func(t *testing.T) {
		all := auditors(t)
		for _, d := range all {
			d.run(3500 * time.Millisecond)
			want(t, "finished", d.finished, false)
			want(t, "final", d.status(0).FinalBegun, false)
		}
		if n := visits(all); n < 25 {
			t.Errorf("%d visits of 9 keys in three and a half periods", n)
		}
	})
	t.Run("FIN-25 flipping a running pipeline to finite completes it", func(t *testing.T) {
		all := auditors(t)
		for _, d := range all {
			d.run(1500 * time.Millisecond)
			d.reconfigure(0, func(p *visit.Params) { p.Finite = true })
			d.run(3 * time.Second)
			want(t, "finished", d.finished, true)
			want(t, "rows of coverage", slices.ContainsFunc(d.cfg.Job.Visitors, isCoverage), false)
		}
	})
	t.Run("KV-38 visits alone that are finite complete after one whole pass", func(t *testing.T) {
		d := auditors(t)[0]
		d.reconfigure(0, func(p *visit.Params) { p.Finite = true })
		d.run(time.Minute)
		want(t, "finished", d.finished, true)
		want(t, "visits", hashesOf(d.visits), "[10 20 30 40]")
	})
}
