package visit

import (
	"errors"
	"testing"
	"time"
)

// named answers a list and says under which names rows were found.
func (r *rig) named(names ...string) {
	l, _ := r.begin()
	answers := r.answers(l)
	answers[0].Names = names
	r.v.Listed(r.now, l.Token, answers)
	r.epoch(100)
	r.tokens()
}

func TestNamesThatNoPassHasFound(t *testing.T) {
	listed := func(c *Config, _ *Params) { c.Buckets, c.Names = 2, []string{"/b", "/a"} }
	t.Run("KV-2 a name is missed after a whole pass only", func(t *testing.T) {
		r := newRig(spaced(10, 20), listed).tokens()
		r.named()
		want(t, "half way", r.v.Status(r.now).Warnings(), "[]")
		r.named("/b", "/unlisted")
		want(t, "warnings", r.v.Status(r.now).Warnings(),
			"[{/key_visitor/sweep/names no pass has found a row under /a so far: check names and external_names}]")
		r.named("/a")
		want(t, "found at last", r.v.Status(r.now).Warnings(), "[]")
	})
	t.Run("KV-2 a name under which rows were written since is not missed", func(t *testing.T) {
		r := newRig(spaced(10, 20), listed).tokens()
		r.named()
		r.v.Wrote([]string{"/a", "/unlisted"})
		r.named()
		want(t, "missing", r.v.Status(r.now).NotFound, "[/b]")
		want(t, "found", r.v.pass.found, "[/a]")
	})
	t.Run("KV-2 what was found is remembered over restarts and repartitions", func(t *testing.T) {
		r := newRig(spaced(10, 20), listed).tokens()
		r.named("/a")
		r.named()
		r.sync()
		r.crash()
		want(t, "missing", r.v.Status(r.now).NotFound, "[/b]")
		halves := []Range{HashRange(1, 50), HashRange(50, 100)}
		st, _ := Repartition([]Piece{{r.cfg.Range, r.st}}, halves, 1)
		rec, _ := decodeRecord(st[1].Record)
		want(t, "after a split", rec.found, "[/a]")
		want(t, "after a merge", rec.merge(record{found: []string{"/0", "/a", "/b"}}).found, "[/0 /a /b]")
	})
	t.Run("KV-2 a name that is no longer listed is forgotten", func(t *testing.T) {
		r := newRig(spaced(10, 20), listed).tokens()
		r.named("/a", "/b")
		r.named()
		r.cfg.Names = []string{"/b", "/c"}
		r.crash()
		want(t, "missing", r.v.Status(r.now).NotFound, "[/c]")
	})
	t.Run("KV-2 a name that another partition has found is not missed", func(t *testing.T) {
		s := Merge(Status{Stream: "s", NotFound: []string{"/a", "/b"}}, Status{NotFound: []string{"/b", "/c"}})
		want(t, "missing", s.NotFound, "[/b]")
		want(t, "while a part has not been through", Merge(s, Status{}).NotFound, "[]")
	})
	t.Run("nobody asks for names", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		r.named("/a")
		want(t, "record", describeRow(r.st.Record, decodeRecord), "pass=1 start=1h0m0.01s anchor=1h0m0.01s seen=2 delivered=2 failed=0 gone=0")
	})
}

func TestKeylessVisits(t *testing.T) {
	t.Run("VAL-16 a visit without a key is refused", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		l, _ := r.begin()
		r.v.Listed(r.now, l.Token, []Answer{{Keys: []Found{{Key: Key{Hash: 7}}}, Rows: 1}})
		want(t, "problem", r.problem("background_fill"), "source 0: it returned an empty key for the hash 7: a visit needs a key")
		want(t, "buffered", r.v.Buffered(), 0)
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,100)p")
	})
}

func TestAgeOfTheOldestKey(t *testing.T) {
	t.Run("KV-48 counts from the start of the pass before until all is committed", func(t *testing.T) {
		r := newRig(spaced(5, 80), func(_ *Config, p *Params) { p.Period, p.FillPeriod = 100*time.Second, time.Second })
		for len(r.v.Summaries()) == 0 {
			r.polls(1, time.Second)
		}
		first := r.v.Summaries()[0]
		r.drain(15, 16, time.Second)
		want(t, "near the end of the second pass", r.v.Status(r.now).MaxAge, time.Duration(r.now.Wall-first.Start))
		halves := []Range{HashRange(1, 50), HashRange(50, 100)}
		st, _ := Repartition([]Piece{{r.cfg.Range, r.st}}, halves, 1)
		r.cfg.Range, r.st = halves[1], st[1]
		r.crash()
		want(t, "after a split", r.v.Status(r.now).MaxAge, time.Duration(r.now.Wall-first.Start))
	})
	t.Run("KV-48 a pass that a command dropped does not count", func(t *testing.T) {
		r := newRig(spaced(5, 80), func(_ *Config, p *Params) { p.Period, p.FillPeriod = 100*time.Second, time.Second })
		start := r.now.Wall
		r.drain(3, 16, time.Second)
		r.order(1, 50*time.Second)
		r.drain(3, 16, time.Second)
		if age := r.v.Status(r.now).MaxAge; age < time.Duration(r.now.Wall-start)-2*time.Second {
			t.Errorf("keys at the end have never been visited, the bound is %s", age)
		}
	})
}

func TestBytesOffered(t *testing.T) {
	t.Run("KV-47 bytes are planned as visits are", func(t *testing.T) {
		r := newRig(rowsOf(3, 10, 90), func(c *Config, _ *Params) { c.Range = HashRange(0, 100) }).tokens()
		want(t, "before any read", r.v.Status(r.now).OfferedBytes, "unknown")
		r.fill()
		want(t, "9 keys of 30 bytes in 10 ms", r.v.Status(r.now).OfferedBytes, 27000)
	})
}

func TestEarliestTimes(t *testing.T) {
	r := newRig(spaced(1, 99), slow)
	want(t, "without visits", r.v.Status(r.now).Event.Known, false)
	r.tick(10 * time.Second)
	r.fill()
	first := r.v.NextVisits(r.now, nil, 1)[0]
	r.now.Wall -= int64(time.Minute)
	r.now.Mono += 10 * time.Second
	r.fill()
	s := r.v.Status(r.now)
	want(t, "system time follows the clock", s.System, Time{r.now.Wall, true})
	want(t, "the watermark waits", s.Watermark.Value <= first.Event, true)
	r.v.EpochOpened(r.now)
	r.v.AcceptVisits(r.now, Outcome{Delivered: r.v.Buffered()})
	want(t, "taken visits count", r.v.Status(r.now).System, s.System)
	want(t, "and their event times", r.v.Status(r.now).Event, s.Event)
	r.v.Delta()
	r.commit()
	want(t, "afterwards", r.v.Status(r.now).System.Known, false)
}

func TestStoredFinalMark(t *testing.T) {
	r := newRig(spaced(5, 80), nil)
	r.sync()
	want(t, "before the signal", r.st.Final(), false)
	r.signal()
	r.sync()
	want(t, "after it", r.st.Final(), true)
	r.st.Record = []byte{99}
	want(t, "in a broken record", r.st.Final(), false)
	want(t, "in none", Stored{}.Final(), false)
}

func TestFailedListsCountNothing(t *testing.T) {
	r := newRig(spaced(10, 20), func(c *Config, _ *Params) { c.Names = []string{"/a"} }).tokens()
	l, _ := r.begin()
	r.v.ListFailed(r.now, l.Token, errors.New("no luck"))
	want(t, "rate", r.v.Status(r.now).Offered, "unknown")
	want(t, "stamp", r.v.Status(r.now).PassStart, 0)
}
