package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
	"pgregory.net/rapid"
)

// TestTheBudgetOfBuffersIsKept: what lists may return never exceeds what is free
// but by the one byte that stands for a key, and all of it comes back.
func TestTheBudgetOfBuffersIsKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 1<<20).Draw(rt, "total")
		woken := 0
		b := newVisitBudget(total, func() { woken++ })
		var held []int
		for range rapid.IntRange(1, 200).Draw(rt, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(rt, "give") {
				i := rapid.IntRange(0, len(held)-1).Draw(rt, "which")
				b.give(held[i])
				held = append(held[:i], held[i+1:]...)
				continue
			}
			want := rapid.IntRange(1, 1<<20).Draw(rt, "want")
			n := b.take(want)
			if n < 1 || n > want {
				rt.Fatalf("%d bytes for a list that wants %d", n, want)
			}
			held = append(held, n)
		}
		sum := 0
		for _, n := range held {
			sum += n
		}
		if sum > total+len(held) {
			rt.Fatalf("%d lists hold %d of %d bytes", len(held), sum, total)
		}
		for _, n := range held {
			b.give(n)
		}
		if b.free != total || b.isShort() {
			rt.Fatalf("%d of %d bytes are free in the end, short %v", b.free, total, b.short)
		}
	})
}

// TestBuffersOfAllStreamsShareABudget: sixteen partitions with two visit streams
// each want 32 times 16 MiB; all together hold what the budget allows, and a key
// each, and every stream gets on.
func TestBuffersOfAllStreamsShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget, size = 64 << 10, 1000
		r := newRig(t, 1200, 600)
		r.partitions, r.period = 16, "1s"
		r.edit = func(text string) string {
			text = strings.Replace(text, "key_visitor_streams = {sweep = {}}", "key_visitor_streams = {sweep = {}; mop = {}}", 1)
			text = strings.Replace(text, "counts = [sweep]", "counts = [sweep; mop]", 1)
			return strings.Replace(text, "sweep = {period", `mop = {period = "1s"}; sweep = {period`, 1)
		}
		for i := range r.rows {
			for j := range r.rows[i] {
				key := r.rows[i][j][0].AsString()
				r.rows[i][j][0] = schema.String(key + strings.Repeat("x", size-len(key)))
			}
		}
		r.buffer = budget
		r.function = func() flow.Function { return slowVisits{newCountFunction(r), 50 * time.Millisecond, nil} }
		var running atomic.Pointer[visitBudget]
		most := 0 // under the budget's lock
		p := r.start(storetest.NewFaults(storetest.NewModel(), func(storetest.Call) storetest.Fault {
			if b := running.Load(); b != nil {
				b.mu.Lock()
				defer b.mu.Unlock()
				most = max(most, b.total-b.free)
			}
			return storetest.Fault{}
		}))
		buffers := p.env.buffers
		running.Store(buffers)
		before := p.VisitStreams()
		p.visits(15 * time.Second)
		if limit := budget + 32*2*(size+100); most > limit || most < budget/2 {
			t.Errorf("the buffers held up to %d bytes, want about %d and at most %d", most, budget, limit)
		}
		for i, v := range p.VisitStreams() {
			if v.Pass < before[i].Pass+2 {
				t.Errorf("visit stream %s is in pass %d after 15 s", v.Stream, v.Pass)
			}
		}
		p.pause()
		if buffers.free != budget {
			t.Errorf("%d of %d bytes are free in the end", buffers.free, budget)
		}
	})
}
