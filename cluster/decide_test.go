package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

func only(string) string { return "" }

// carriedOut are the partitions after the actions, as the store would have them.
func carriedOut(s State, a Actions) []store.Partition {
	out := slices.Clone(s.Partitions)
	for i := range out {
		if slices.Contains(a.Bury, out[i].Worker) {
			out[i].Worker = ""
		}
	}
	for _, m := range a.Moves {
		i := slices.IndexFunc(out, func(p store.Partition) bool { return p.ID == m.Partition })
		if out[i].Worker != m.From {
			panic(fmt.Sprintf("%+v: the partition belongs to %q", m, out[i].Worker))
		}
		out[i].Worker = m.To
	}
	return out
}

func drawn(t *rapid.T) State {
	s := State{Dead: 10 * time.Second, Group: only}
	names := []string{"", "gone"}
	for i := range rapid.IntRange(0, 7).Draw(t, "workers") {
		w := store.Worker{ID: fmt.Sprint("w", i), Unseen: time.Duration(rapid.IntRange(0, 20).Draw(t, "unseen")) * time.Second}
		s.Workers, names = append(s.Workers, w), append(names, w.ID)
	}
	for i := range rapid.IntRange(0, 40).Draw(t, "partitions") {
		p := store.Partition{ID: store.PartitionID(i + 1), State: store.Executing, Worker: rapid.SampledFrom(names).Draw(t, "owner")}
		p.Computation = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "computation")
		if rapid.IntRange(0, 9).Draw(t, "done") == 0 {
			p.State = store.Completed
		}
		s.Partitions = append(s.Partitions, p)
	}
	return s
}

// TestDecisionsAreEvenWithTheFewestMoves: everybody who lives has as many as
// another, but for one; whoever is silent for too long has none; nothing moves
// that could stay; what is completed stays where it is; and nothing is left to do
// afterwards.
func TestDecisionsAreEvenWithTheFewestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		a := Decide(s)
		loads, before := map[string]int{}, map[string]int{}
		for _, w := range s.Workers {
			if dead := w.Unseen > s.Dead; dead != slices.Contains(a.Bury, w.ID) {
				t.Fatalf("worker %s, unseen for %s: buried %v", w.ID, w.Unseen, !dead)
			} else if !dead {
				loads[w.ID], before[w.ID] = 0, 0
			}
		}
		if len(before) == 0 {
			if len(a.Moves) > 0 {
				t.Fatalf("nobody lives, and there are moves: %+v", a.Moves)
			}
			return
		}
		after := carriedOut(s, a)
		n := 0
		for i, p := range after {
			if p.State == store.Completed {
				if was := s.Partitions[i].Worker; p.Worker != was && !slices.Contains(a.Bury, was) {
					t.Fatalf("completed partition %d moves", p.ID)
				}
				continue
			}
			n++
			if _, lives := loads[p.Worker]; !lives {
				t.Fatalf("partition %d is given to %q", p.ID, p.Worker)
			}
			loads[p.Worker]++
			if _, lives := before[s.Partitions[i].Worker]; lives {
				before[s.Partitions[i].Worker]++
			}
		}
		least, most := n, 0
		for id := range before {
			least, most = min(least, loads[id]), max(most, loads[id])
		}
		if most-least > 1 {
			t.Fatalf("loads %v", loads)
		}
		if want := fewest(before, n); len(a.Moves) != want {
			t.Fatalf("%d moves, %d are enough: %v of %d", len(a.Moves), want, before, n)
		}
		s.Partitions = after
		s.Workers = slices.DeleteFunc(s.Workers, func(w store.Worker) bool { return w.Unseen > s.Dead })
		if again := Decide(s); len(again.Moves) > 0 || len(again.Bury) > 0 {
			t.Fatalf("afterwards there is still to do: %+v", again)
		}
	})
}

// fewest is the least number of moves that make n partitions even: all but what
// stays, if those with the most keep one more than the others.
func fewest(before map[string]int, n int) int {
	var have []int
	for _, b := range before {
		have = append(have, b)
	}
	slices.Sort(have)
	slices.Reverse(have)
	stay := 0
	for i, h := range have {
		quota := n / len(have)
		if i < n%len(have) {
			quota++
		}
		stay += min(h, quota)
	}
	return n - stay
}

// TestGroupsHaveTheirOwnWorkers: partitions of a group without workers wait.
func TestGroupsHaveTheirOwnWorkers(t *testing.T) {
	s := State{Dead: time.Second, Workers: []store.Worker{{ID: "x", Group: "a"}, {ID: "y", Group: "b"}}, Group: func(c string) string { return c }}
	for i, c := range []string{"a", "a", "b", "b", "c"} {
		s.Partitions = append(s.Partitions, store.Partition{ID: store.PartitionID(i + 1), Computation: c, State: store.Executing})
	}
	var got []string
	for _, p := range carriedOut(s, Decide(s)) {
		got = append(got, p.Worker)
	}
	if want := []string{"x", "x", "y", "y", ""}; !slices.Equal(got, want) {
		t.Errorf("owners %q, want %q", got, want)
	}
}

// BenchmarkDecide: a tenth of 1000 workers with 100 000 partitions is lost.
func BenchmarkDecide(b *testing.B) {
	s := State{Dead: time.Second, Group: only}
	for i := range 1000 {
		w := store.Worker{ID: fmt.Sprintf("w%03d", i)}
		if i%10 == 0 {
			w.Unseen = time.Minute
		}
		s.Workers = append(s.Workers, w)
	}
	for i := range 100_000 {
		s.Partitions = append(s.Partitions, store.Partition{
			ID: store.PartitionID(i + 1), Computation: fmt.Sprint("c", i%5), State: store.Executing, Worker: fmt.Sprintf("w%03d", i%1000),
		})
	}
	for b.Loop() {
		if a := Decide(s); len(a.Bury) != 100 || len(a.Moves) != 10_000 {
			b.Fatalf("%d buried, %d moves", len(a.Bury), len(a.Moves))
		}
	}
}
