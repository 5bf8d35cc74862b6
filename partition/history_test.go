package partition

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// history is a drive with what its visits must satisfy.
type history struct {
	*drive
	rt   *rapid.T
	sent map[visit.Key]int // messages of each key
	seen int               // visits checked so far
	once map[string]bool
}

// newHistory starts a partition with two visit streams, one of which follows only
// the first input. Every message of a key adds one to its state.
func newHistory(t *testing.T, rt *rapid.T) *history {
	h := &history{rt: rt, sent: map[visit.Key]int{}, once: map[string]bool{}}
	h.drive = newDrive(t, "s s2", "all narrow", func(d *drive) {
		d.cfg.Visitors[1].Upstream = []string{"s"}
		d.cfg.Params.MaxRows = rapid.IntRange(1, 8).Draw(rt, "rows of an epoch")
		for i := range d.cfg.Visitors {
			d.cfg.Visitors[i].Config.Buckets = 1 + i
			d.cfg.Visitors[i].Params.MaxScanRows = 3
		}
		d.handle = func(c *call) {
			if c.visit == nil {
				n, _ := strconv.Atoi(c.state["/n"])
				c.state["/n"] = strconv.Itoa(n + 1)
			}
		}
	})
	return h
}

// act does one thing.
func (h *history) act() {
	switch action := rapid.IntRange(0, 12).Draw(h.rt, "action"); action {
	case 0, 1:
		h.message()
	case 2:
		h.tick(time.Duration(rapid.IntRange(0, 60).Draw(h.rt, "ms")) * time.Millisecond)
	case 3:
		h.holding = rapid.Bool().Draw(h.rt, "hold answers")
	case 4:
		h.release()
	case 5:
		h.reconfigure(rapid.IntRange(0, 1).Draw(h.rt, "stream"), func(p *visit.Params) {
			p.Finite = rapid.IntRange(0, 3).Draw(h.rt, "finite") > 0
			p.Enabled = rapid.IntRange(0, 3).Draw(h.rt, "enabled") > 0
		})
	case 6:
		h.step(RunNow{rapid.IntRange(0, 1).Draw(h.rt, "stream"), visit.Run{ID: uint64(rapid.IntRange(1, 3).Draw(h.rt, "command"))}})
	default:
		h.advance()
	}
}

// message sends to one of a few keys, from either input that is not completed.
func (h *history) message() {
	stream := rapid.SampledFrom([]string{"s", "s2"}).Draw(h.rt, "input")
	if h.report(stream).Streams[0].State == store.Finished {
		return
	}
	if rapid.IntRange(0, 9).Draw(h.rt, "complete") == 0 {
		h.complete(stream)
		return
	}
	k := keyOf(uint64(rapid.IntRange(0, 9).Draw(h.rt, "key")) * 11)
	h.sent[k]++
	h.send(stream, message{k, "m"})
}

// advance lets the machine do what it is ready for; a transaction may fail, or
// succeed without its job hearing of it.
func (h *history) advance() {
	r := h.machine.Ready(h.now)
	if r.Epoch == nil {
		h.work()
		return
	}
	h.machine.Accept(h.now, Ready{Epoch: r.Epoch})
	e := h.process(r.Epoch)
	for _, v := range e.visits {
		h.check(v)
	}
	switch rapid.IntRange(0, 19).Draw(h.rt, "outcome") {
	case 0:
		h.restart()
	case 1:
		h.store(e)
		h.restart()
	default:
		h.commit(e)
	}
	h.finished = h.finished || e.commit.Done
	for ; h.seen < len(h.visits); h.seen++ {
		v := h.visits[h.seen]
		id := fmt.Sprint(v.stream, v.Pass, v.Key)
		if h.once[id] {
			h.rt.Fatalf("%s of stream %s took effect twice", v.Visit, v.stream)
		}
		h.once[id] = true
	}
}

// check checks a visit at its delivery: in a final pass everything that the
// followed inputs sent is in the state, for the pass begins only after that.
func (h *history) check(v visited) {
	if !v.Final {
		return
	}
	for _, stream := range h.cfg.Visitors[map[string]int{"all": 0, "narrow": 1}[v.stream]].Upstream {
		if h.report(stream).Streams[0].State != store.Finished {
			h.rt.Fatalf("%s of stream %s is final, input %s is not completed", v.Visit, v.stream, stream)
		}
		for _, row := range h.inbox {
			if row.Producer == h.producer(stream) {
				h.rt.Fatalf("%s of stream %s is final, row %d of input %s is not consumed", v.Visit, v.stream, row.Number, stream)
			}
		}
	}
	if got := v.state["/n"]; v.stream == "all" && got != strconv.Itoa(h.sent[v.Key]) {
		h.rt.Fatalf("the final visit of %s sees %s of %d messages", v.Key, got, h.sent[v.Key])
	}
}

// end completes the inputs and lets the partition finish.
func (h *history) end() {
	h.complete("s", "s2")
	for i := range h.cfg.Visitors {
		h.reconfigure(i, func(p *visit.Params) { p.Finite, p.Enabled = true, true })
	}
	h.release()
	for range 2000 {
		if h.advance(); h.finished {
			break
		}
		h.tick(5 * time.Millisecond)
	}
	if !h.finished {
		h.rt.Fatalf("the partition does not complete: %s\n%s", h.status(0), h.status(1))
	}
	final := map[string]int{}
	for _, v := range h.visits {
		if v.Final {
			final[v.stream]++
		}
	}
	if final["all"] != len(h.sent) {
		h.rt.Fatalf("%v keys had a final visit, of %d", final, len(h.sent))
	}
	for k, n := range h.sent {
		if h.states[k]["/n"] != strconv.Itoa(n) {
			h.rt.Fatalf("%s counts %s of %d messages", k, h.states[k]["/n"], n)
		}
	}
}

// TestFinalPassesSeeEveryMessage runs generated histories of messages, answers
// that come late, parameters, commands, failed and unknown commits: visits are
// exactly once per pass, no final pass begins before all messages of its
// upstreams are consumed, and at the end every key has had its final visit
// (KV-13, KV-33, KV-34, D-16). rapid prints the seed and how to run a failure
// again.
func TestFinalPassesSeeEveryMessage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt)
		for range rapid.IntRange(10, 120).Draw(rt, "steps") {
			if h.act(); h.finished {
				break
			}
		}
		h.end()
	})
}
