package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

// testHistories compares a store with the model.
func testHistories(t *testing.T, fresh func(t TB) Harness) {
	Compare(t, fresh(t).Histories, map[string]func(t TB) Harness{"store": fresh})
}

// Compare makes random histories, as many as the limit says or rapid makes, and
// wants the same answers from all stores as from the model, after each step. What
// fails is printed by rapid with its seed and how to run it again, shrunk; the
// message has the step, and both answers.
func Compare(t *testing.T, limit int, fresh map[string]func(t TB) Harness) {
	passed := 0
	rapid.Check(t, func(rt *rapid.T) {
		if limit > 0 && passed >= limit {
			return
		}
		model := NewModel()
		modelHarness := Harness{
			Open:  func(TB) store.Store { model = model.Reopen(); return model },
			Crash: func(TB, uint64) Harness { return Harness{} },
		}
		g := &history{stores: map[string]*world{}, model: newWorld(rt, modelHarness)}
		for name, fresh := range fresh {
			g.stores[name] = newWorld(rt, fresh(rt))
		}
		steps := g.queueSteps()
		maps.Copy(steps, g.tableSteps())
		maps.Copy(steps, map[string]func(*rapid.T){
			"":        g.compare,
			"commit":  g.commit,
			"commit2": g.commit, // twice as often as the others
			"raise":   g.raise,
			"get":     g.get,
			"list":    g.list,
			"pages":   g.pages,
			"timers":  g.timers,
			"inbox":   g.inbox,
			"reopen":  g.reopen,
			"crash":   g.crash,
			"create":  g.create,
			"layout":  g.relayout,
		})
		rt.Repeat(steps)
		passed++ // a history that fails does not come here, and is run again
	})
}

// history drives several worlds through the same steps.
type history struct {
	stores map[string]*world
	model  *world
}

// compare runs after every step.
func (g *history) compare(t *rapid.T) {
	g.same(t, "dump", func(w *world) string { return w.dump() })
}

func (g *history) same(t *rapid.T, step string, do func(w *world) string) {
	want := do(g.model)
	for _, name := range slices.Sorted(maps.Keys(g.stores)) {
		if got := do(g.stores[name]); got != want {
			t.Fatalf("%s:\n%s: %s\nmodel: %s", step, name, got, want)
		}
	}
}

// rawKeys are drawn from few bytes, the awkward ones among them, so that keys
// meet, and made prefix-free as encoded keys are.
func rawKey() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		raw := rapid.SliceOfN(rapid.SampledFrom([]byte{0x00, 0x01, 'a', 0xFE, 0xFF}), 0, 3).Draw(t, "key")
		return strings.ReplaceAll(string(raw), "\x00", "\x00\xff") + "\x00\x01"
	})
}

// bound is a prefix of a key, an open end, or a whole key.
func bound() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		key := rawKey().Draw(t, "bound")
		return key[:rapid.IntRange(0, len(key)).Draw(t, "cut")]
	})
}

func stateNames() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"/a", "/a/b", "/", "b", "/a\xff", "\x01"})
}

func (g *history) partition(t *rapid.T) int {
	return rapid.IntRange(0, len(g.model.parts)-1).Draw(t, "partition")
}

// commit draws a commit, which is stale, or takes what it must not, now and then.
func (g *history) commit(t *rapid.T) {
	i := g.partition(t)
	c := g.model.commit(i)
	for range rapid.IntRange(0, 6).Draw(t, "states") {
		value := rapid.SampledFrom([]string{"", "", "1", "22", "\x00", strings.Repeat("long", 40)}).Draw(t, "value")
		set(rawKey().Draw(t, "key"), stateNames().Draw(t, "name"), value)(c)
	}
	g.drawTimers(t, c)
	g.drawTakes(t, c, i)
	g.drawProduced(t, c)
	g.drawHead(t, c)
	g.drawQueues(t, c)
	g.drawRows(t, c)
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		c.Generation--
		for i := range c.Produced {
			c.Produced[i].Generation--
		}
		c.Report = nil
	}
	g.same(t, fmt.Sprintf("commit %+v", *c), func(w *world) string { return outcome(w.Commit(w.ctx, c)) })
}

// outcome is an error's class; messages may differ between stores.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	for _, c := range classes() {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	return "refused"
}

func (g *history) drawTakes(t *rapid.T, c *store.Commit, i int) {
	for _, row := range g.model.inbox(i) {
		switch rapid.IntRange(0, 5).Draw(t, "take") {
		case 0: // whole
			take(row.InboxKey, row.Consumed, row.Count, true)(c)
		case 1: // a part, unless only one is left
			to := rapid.IntRange(row.Consumed+1, row.Count).Draw(t, "to")
			take(row.InboxKey, row.Consumed, to, to == row.Count)(c)
		case 2:
			if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 {
				row.Number += uint64(rapid.IntRange(0, 1).Draw(t, "absent"))
				take(row.InboxKey, row.Consumed+1, row.Count+1, true)(c)
			}
		}
	}
}

func (g *history) drawProduced(t *rapid.T, c *store.Commit) {
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		target := g.partition(t)
		payload := rapid.SampledFrom([]string{"", "p", "qq", strings.Repeat("r", 20)}).Draw(t, "payload")
		g.model.produce(target, rapid.IntRange(1, 4).Draw(t, "count"), payload)(c)
		c.Produced[len(c.Produced)-1].Layout = rapid.Uint64Range(1, 2).Draw(t, "layout")
	}
}

func (g *history) drawHead(t *rapid.T, c *store.Commit) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'b'}), 0, 2, -1)
	if rapid.Bool().Draw(t, "head") {
		everyField(text.Draw(t, "mark"))(c)
	}
	for range rapid.IntRange(0, 3).Draw(t, "visitors") {
		c.Visitors = append(c.Visitors, store.VisitorRow{
			Stream: rapid.SampledFrom([]string{"s", "ss", "s\x00"}).Draw(t, "stream"),
			Slot:   rapid.IntRange(store.SlotSummaries, 2).Draw(t, "slot"),
			Value:  []byte(text.Draw(t, "coverage")),
		})
	}
	c.Done = rapid.IntRange(0, 19).Draw(t, "done") == 0
}

func (g *history) raise(t *rapid.T) {
	i := g.partition(t)
	g.same(t, fmt.Sprintf("raise %d", i), func(w *world) string {
		job := w.raise(i)
		return fmt.Sprintf("%+v %s", job.Partition, describeJob(job))
	})
}

func (g *history) create(t *rapid.T) {
	p := store.Partition{
		Computation: rapid.SampledFrom([]string{"left", "right", "third"}).Draw(t, "computation"),
		Kind:        store.SourcePartition, Name: "s/0", Lower: 1, Upper: 1 << 63, Layout: 2,
	}
	g.same(t, "create", func(w *world) string {
		made, err := w.CreatePartitions(w.ctx, []store.Partition{p, p})
		w.check(err)
		w.parts = append(w.parts, made[0])
		return fmt.Sprintf("%+v", made)
	})
}

func (g *history) get(t *rapid.T) {
	keys := rapid.SliceOfN(rawKey(), 0, 8).Draw(t, "keys")
	g.same(t, fmt.Sprintf("get %q", keys), func(w *world) string {
		got, err := w.GetStates(w.ctx, "left", keys)
		w.check(err)
		var b strings.Builder
		for _, rows := range got {
			b.WriteString(describeRows(rows))
		}
		return b.String()
	})
}

func drawList(t *rapid.T) store.ListRequest {
	r := store.ListRequest{Computation: "left", Lower: bound().Draw(t, "lower"), Upper: bound().Draw(t, "upper")}
	if rapid.Bool().Draw(t, "some names") {
		r.Names = rapid.SliceOfN(stateNames(), 0, 2).Draw(t, "names")
	}
	if rapid.Bool().Draw(t, "row limit") {
		r.MaxRows = rapid.IntRange(1, 6).Draw(t, "rows")
	}
	if rapid.Bool().Draw(t, "byte limit") {
		r.MaxBytes = rapid.IntRange(1, 60).Draw(t, "bytes")
	}
	return r
}

func (g *history) list(t *rapid.T) {
	r := drawList(t)
	g.same(t, fmt.Sprintf("list %+v", r), func(w *world) string {
		a, err := w.ListStates(w.ctx, r)
		w.check(err)
		return describeAnswer(a)
	})
}

// pages compares whole ranges, read in pages by work, which stores may count
// differently.
func (g *history) pages(t *rapid.T) {
	r := drawList(t)
	r.MaxRows, r.MaxWork = 0, rapid.IntRange(1, 10).Draw(t, "work")
	g.same(t, fmt.Sprintf("pages %+v", r), func(w *world) string { return describeKeys(w.pages(r)) })
}

func (g *history) inbox(t *rapid.T) {
	i := g.partition(t)
	r := store.InboxRequest{MaxBytes: rapid.IntRange(0, 25).Draw(t, "bytes")}
	seen := map[store.Lane]bool{}
	for _, row := range g.model.inbox(i) {
		if !seen[row.Lane()] && rapid.IntRange(0, 2).Draw(t, "position") == 0 {
			seen[row.Lane()] = true
			r.After = append(r.After, store.LanePlace{Lane: row.Lane(), Place: row.Place()})
		}
	}
	slices.SortFunc(r.After, func(a, b store.LanePlace) int { return cmp.Compare(b.Lane.Producer, a.Lane.Producer) })
	g.same(t, fmt.Sprintf("inbox %d %+v", i, r), func(w *world) string {
		r.Target = w.parts[i].ID
		a, err := w.ReadInbox(w.ctx, r)
		w.check(err)
		var b strings.Builder
		for _, row := range a.Rows {
			fmt.Fprintln(&b, describeRow(row))
		}
		fmt.Fprint(&b, a.End)
		return b.String()
	})
}

func (g *history) reopen(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
		return
	}
	for _, w := range g.stores {
		w.reopen()
	}
}

// crash leaves the stores' places to themselves and goes on with what is durable,
// which is everything: all commits were acknowledged.
func (g *history) crash(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
		return
	}
	seed := rapid.Uint64().Draw(t, "seed")
	for name, w := range g.stores {
		if w.h.Crash != nil {
			g.stores[name] = w.crashed(seed)
		}
	}
}
