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
	// timers are those that committed epochs have set and not removed.
	timers map[store.TimerID]int64
}

// newHistory starts a partition with two visit streams, one of which follows only
// the first input, and three timer streams. Every message of a key adds one to its
// state, and sets or removes timers as it says.
func newHistory(t *testing.T, rt *rapid.T) *history {
	h := &history{rt: rt, sent: map[visit.Key]int{}, once: map[string]bool{}, timers: map[store.TimerID]int64{}}
	h.drive = newDrive(t, "s s2", "all narrow", func(d *drive) {
		d.cfg.Visitors[1].Upstream = []string{"s"}
		d.cfg.Timers = []TimerStream{
			{Stream: "event", Watch: []Watch{{Stream: "s"}, {Stream: "s2", Delay: 3}}, Parents: []string{"s", "s2"}},
			{Stream: "real", Clock: RealClock, Parents: []string{"s", "s2"}},
			{Stream: "after", Watch: []Watch{{Stream: "event"}}, Parents: []string{"event", "after", "all"}},
		}
		d.cfg.Params.HoldTimers = rapid.IntRange(1, 6).Draw(rt, "timers held")
		d.timerPage = rapid.IntRange(1, 4).Draw(rt, "timers of an answer")
		d.cfg.Params.MaxRows = rapid.IntRange(1, 8).Draw(rt, "rows of an epoch")
		for i := range d.cfg.Visitors {
			d.cfg.Visitors[i].Config.Buckets = 1 + i
			d.cfg.Visitors[i].Params.MaxScanRows = 3
		}
		d.handle = func(c *call) {
			switch {
			case c.timer != nil:
				h.due(c)
			case c.visit == nil:
				n, _ := strconv.Atoi(c.state["/n"])
				h.timersBy(c)
				c.state["/n"] = strconv.Itoa(n + 1)
			}
		}
	})
	return h
}

// timersBy does what a message says: "forget", or a stream and a trigger, for real
// time beyond the start.
func (h *history) timersBy(c *call) {
	var stream string
	var trigger int64
	if c.payload == "forget" {
		c.clear()
	} else if n, _ := fmt.Sscan(c.payload, &stream, &trigger); n == 2 {
		if stream == "real" {
			trigger += int64(1000 * time.Second)
		}
		c.set(stream, trigger, trigger)
	}
}

// due checks a timer when it is delivered: it is set, no earlier one of its key is,
// and the watermark has reached it.
func (h *history) due(c *call) {
	id := store.TimerID{Key: timerKey(c.key), Trigger: c.timer.Trigger, Stream: c.stream}
	if _, set := h.timers[id]; !set {
		h.rt.Fatalf("%+v fires, and is not set", id)
	}
	now := h.now.Wall
	if c.stream != "real" {
		now = min(h.reached("s"), earlier(h.reached("s2"), 3))
	}
	if c.stream != "after" && id.Trigger > now {
		h.rt.Fatalf("%+v fires at %d", id, now)
	}
	if c.stream == "event" && id.Trigger%3 == 0 {
		c.set("after", id.Trigger+1, id.Trigger)
	}
}

// reached is how far a stream's watermark can have come.
func (h *history) reached(stream string) int64 {
	if r := h.report(stream).Streams[0]; r.State != store.Finished {
		return r.Watermark
	}
	return endOfTime
}

// keep takes over what a committed epoch did with timers: each key's fired in
// order, and the commit said what the functions did.
func (h *history) keep(e *epoch) {
	last := map[string]int64{}
	for _, f := range e.fired {
		at := f.Key + f.TimerID.Stream
		if trigger, ok := last[at]; ok && f.Trigger < trigger {
			h.rt.Fatalf("%+v fires after one at %d", f, trigger)
		}
		last[at] = f.Trigger
		delete(h.timers, f.TimerID)
	}
	for id := range h.timers {
		if trigger, ok := last[id.Key+id.Stream]; ok && id.Trigger < trigger {
			h.rt.Fatalf("a timer at %d fires before %+v", trigger, id)
		}
	}
	for id := range e.timers.gone {
		delete(h.timers, id)
	}
	timerEdits{set: h.timers}.addAll(timersOf(e.timers.set))
	if got, want := fmt.Sprint(timersOf(h.drive.timers)), fmt.Sprint(timersOf(h.timers)); got != want {
		h.rt.Fatalf("stored are %s, want %s", got, want)
	}
}

// act does one thing.
func (h *history) act() {
	switch action := rapid.IntRange(0, 13).Draw(h.rt, "action"); action {
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
	case 7:
		stream := rapid.SampledFrom([]string{"s", "s2"}).Draw(h.rt, "input")
		if r := h.report(stream).Streams[0]; r.State != store.Finished {
			h.watermark(stream, max(r.Watermark, int64(rapid.IntRange(0, 20).Draw(h.rt, "watermark"))))
		}
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
	trigger := rapid.IntRange(-2, 12).Draw(h.rt, "trigger")
	h.send(stream, message{k, rapid.SampledFrom([]string{
		"m", "forget", fmt.Sprint("event ", trigger), fmt.Sprint("event ", trigger), fmt.Sprint("after ", trigger),
		fmt.Sprint("real ", trigger*int(30*time.Millisecond)),
	}).Draw(h.rt, "payload")})
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
		h.keep(e)
		h.restart()
	default:
		h.commit(e)
		h.keep(e)
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
	for id := range h.timers {
		if id.Stream == "event" && v.stream == "all" {
			h.rt.Fatalf("%s of stream %s is final, and timer %+v is due", v.Visit, v.stream, id)
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
	if len(h.timers) > 0 {
		h.rt.Fatalf("the partition has completed with timers %v", h.timers)
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
// upstreams are consumed and all due timers have fired, and at the end every key
// has had its final visit and no timer is left. Timers are exactly once, in order,
// and never early (KV-13, KV-33, KV-34, D-14, D-16). rapid prints the seed and how to run a failure
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
