package partition

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

func isCoverage(r store.VisitorRow) bool { return r.Slot != store.SlotSummaries }

func TestDispatchCases(t *testing.T) {
	t.Run("PASS-12 messages come before timers, timers before visits, and all work on one state", func(t *testing.T) {
		d := newDrive(t, "s", "first second", func(d *drive) {
			d.put("/payload", "old", 10)
			d.cfg.Outputs = []Output{{Stream: "out", Parents: []string{"timer"}}}
			d.cfg.Timers = []TimerStream{{Stream: "timer", Clock: RealClock}}
			d.timers[store.TimerID{Key: timerKey(keyOf(10)), Trigger: d.now.Wall + int64(50*time.Millisecond), Stream: "timer"}] = 0
			d.handle = func(c *call) {
				switch {
				case c.timer != nil:
					c.emit("timer " + c.state["/payload"])
					return
				case c.visit == nil:
					c.state["/payload"] = c.payload
					return
				}
				n, _ := strconv.Atoi(c.state["/count"])
				c.state["/count"] = strconv.Itoa(n + 1)
				c.emit(c.stream + " " + c.state["/payload"] + c.state["/count"])
			}
		})
		d.holding = true
		d.work() // the first reads of the inbox and the timers
		d.tick(50 * time.Millisecond)
		d.step(Blocked{Outputs: []bool{true}}) // the timer waits for the message
		d.work()                               // both lists, whose answers do too
		d.send("s", message{keyOf(10), "hello"})
		d.work() // reads it
		d.release()
		d.step(Blocked{Outputs: []bool{false}})
		d.run(time.Millisecond)
		want(t, "order", d.orders, "[message timer first second]")
		want(t, "output", d.emitted, "[timer hello first hello1 second hello2]")
	})
	t.Run("PASS-13 a key whose rows are gone is not delivered, one that another source has is", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			d.put("/s", "x", 10)
			d.tables["/reference"] = map[visit.Key]bool{keyOf(20): true}
			d.scans[0] = scan{internal: true, tables: []string{"/reference"}}
			d.handle = func(c *call) {
				if c.visit == nil {
					clear(c.state)
				} else {
					c.emit(strconv.Itoa(len(c.state)))
				}
			}
		})
		d.work()
		d.tick(50 * time.Millisecond)
		d.holding = true
		d.work()
		d.send("s", message{keyOf(10), "clear"})
		d.run(time.Millisecond)
		want(t, "rows", len(d.states), 0)
		d.release()
		d.run(100 * time.Millisecond)
		want(t, "first pass", d.status(0).Pass > 1, true)
		want(t, "output of the visit of a key without state", d.emitted[0], "0")
		if slices.ContainsFunc(d.visits, func(v visited) bool { return v.Key.Hash == 10 }) {
			t.Error("a key without rows was delivered")
		}
		want(t, "counters", d.machine.visitors[0].machine.Summaries()[0].Counters, "seen=2 delivered=1 failed=0 gone=1")
	})
	t.Run("PASS-15 back-pressure holds back the streams that feed the full output", func(t *testing.T) {
		d := newDrive(t, "s", "feeding free", func(d *drive) {
			d.put("/s", "x", spacedHashes(5, 40)...)
			d.cfg.Outputs = []Output{{Stream: "out", Parents: []string{"feeding"}}}
		})
		of := func(stream string) (n int) {
			for _, v := range d.visits {
				if v.stream == stream {
					n++
				}
			}
			return n
		}
		d.step(Blocked{Outputs: []bool{true}})
		d.run(200 * time.Millisecond)
		want(t, "visits that feed the full output", of("feeding"), 0)
		want(t, "they wait", d.status(0).Ready, 8)
		if of("free") < 16 {
			t.Errorf("%d visits of the stream that feeds nothing", of("free"))
		}
		d.step(Blocked{Outputs: []bool{false}})
		d.run(20 * time.Millisecond)
		var first []visited
		for _, v := range d.visits {
			if v.stream == "feeding" && v.Pass == 1 {
				first = append(first, v)
			}
		}
		want(t, "nothing is lost", hashesOf(first), spacedHashes(5, 40))
	})
	t.Run("D-18 a loop that is full holds back what begins in it, and not its messages", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			d.put("/s", "x", 10)
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: RealClock}}
			d.cfg.Outputs = []Output{{Stream: "again", Parents: []string{"s", "sweep", "t"}}}
			d.preset("t", 10, 20)
		})
		d.step(Blocked{Outputs: []bool{false}, Loops: []bool{true}})
		d.send("s", message{keyOf(10), "hello"})
		d.run(time.Second)
		want(t, "order", d.orders, "[message]")
		d.step(Blocked{Outputs: []bool{true}})
		d.send("s", message{keyOf(10), "hello"})
		d.run(time.Second)
		want(t, "order", d.orders, "[message]")
	})
}

// scanOf says what a visit stream of the spec reads (KV-1).
func scanOf(v spec.VisitStream) scan {
	return scan{internal: v.ScansInternal(), names: v.Names, tables: v.ExternalNames}
}

// scanned runs a few passes of a visit stream over states and tables, and
// returns the hashes visited in the first.
func scanned(t *testing.T, v spec.VisitStream, fill func(d *drive)) (hashes []uint64, d *drive) {
	d = newDrive(t, "s", "sweep", func(d *drive) {
		d.scans[0] = scanOf(v)
		c := &d.cfg.Visitors[0].Config
		c.Buckets, c.Names = 2, slices.Concat(v.Names, v.ExternalNames)
		fill(d)
	})
	d.run(300 * time.Millisecond)
	if d.status(0).Pass < 3 {
		t.Errorf("after six ticks the pass is %d", d.status(0).Pass)
	}
	for _, v := range d.visits {
		if v.Pass == 1 {
			hashes = append(hashes, v.Key.Hash)
		}
	}
	return hashes, d
}

func TestNameCases(t *testing.T) {
	table := func(hashes ...uint64) map[visit.Key]bool {
		keys := map[visit.Key]bool{}
		for _, h := range hashes {
			keys[keyOf(h)] = true
		}
		return keys
	}
	three := func(d *drive) {
		d.put("/own", "x", 10)
		d.tables["/manager"], d.tables["/joiner"] = table(20), table(30)
	}
	t.Run("NAM-01 by state name", func(t *testing.T) {
		got, _ := scanned(t, spec.VisitStream{Names: []string{"/included"}}, func(d *drive) {
			d.put("/included", "x", 10, 20)
			d.put("/excluded", "x", 30, 40)
		})
		want(t, "visits", got, "[10 20]")
	})
	t.Run("NAM-03 external names alone leave internal states out", func(t *testing.T) {
		got, _ := scanned(t, spec.VisitStream{ExternalNames: []string{"/ext"}}, func(d *drive) {
			d.put("/s", "x", 10)
			d.tables["/ext"] = table(20)
		})
		want(t, "visits", got, "[20]")
	})
	t.Run("NAM-04 internal and external names unite their keys", func(t *testing.T) {
		got, _ := scanned(t, spec.VisitStream{Names: []string{"/mirror"}, ExternalNames: []string{"/source"}}, func(d *drive) {
			d.put("/mirror", "x", 10, 20)
			d.put("/other", "x", 40)
			d.tables["/source"] = table(20, 30)
		})
		want(t, "visits", got, "[10 20 30]")
	})
	t.Run("NAM-05 nothing named means internal states and nothing else", func(t *testing.T) {
		got, _ := scanned(t, spec.VisitStream{}, three)
		want(t, "visits", got, "[10]")
	})
	t.Run("NAM-06 an empty list of names is as good as none", func(t *testing.T) {
		got, _ := scanned(t, spec.VisitStream{Names: []string{}}, three)
		want(t, "visits", got, "[10]")
	})
	t.Run("KV-2 a listed name that no pass finds is a warning", func(t *testing.T) {
		_, d := scanned(t, spec.VisitStream{Names: []string{"/mirror", "/typo"}, ExternalNames: []string{"/source", "/empty"}}, func(d *drive) {
			d.put("/mirror", "x", 10)
			d.tables["/source"] = table(20)
		})
		var missing []string
		for _, w := range d.status(0).Warnings() {
			missing = append(missing, strings.Fields(w.Message)[7])
		}
		want(t, "warnings", missing, "[/empty /typo]")
	})
}
