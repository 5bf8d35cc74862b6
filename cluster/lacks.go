package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// lacks are what the living workers of one worker_group cannot run.
type lacks struct {
	of map[string]map[place]engine.Lack // by worker
	// apart are the partitions that somebody lacks on their own: they are balanced
	// apart from the others of their computation.
	apart map[place]bool
	// outages are what all lack, and any may wait for.
	outages map[place]bool
}

// place is a computation, or a partition of one that has a name.
type place struct{ computation, partition string }

func newLacks(workers []store.Worker, told map[string][]engine.Lack) *lacks {
	l := &lacks{of: map[string]map[place]engine.Lack{}, apart: map[place]bool{}, outages: map[place]bool{}}
	outages := map[place]int{}
	for _, w := range workers {
		if len(told[w.ID]) == 0 {
			continue
		}
		l.of[w.ID] = map[place]engine.Lack{}
		for _, lack := range told[w.ID] {
			at := place{lack.Computation, lack.Partition}
			if before, is := l.of[w.ID][at]; is && !before.Outage {
				continue // what is lacking for good counts
			}
			l.of[w.ID][at] = lack
		}
		for at, lack := range l.of[w.ID] {
			l.apart[at] = at.partition != ""
			if lack.Outage {
				outages[at]++
			}
		}
	}
	for at, n := range outages {
		l.outages[at] = n == len(workers)
	}
	return l
}

// kind is the partitions that are alike: whoever can run one of them can run all.
func (l *lacks) kind(p *store.Partition) place {
	if at := (place{p.Computation, p.Name}); l.apart[at] {
		return at
	}
	return place{computation: p.Computation}
}

// why tells what a worker lacks for partitions of a kind.
func (l *lacks) why(worker string, kind place) (engine.Lack, bool) {
	for _, at := range []place{{computation: kind.computation}, kind} {
		if lack, is := l.of[worker][at]; is && !l.outages[at] {
			return lack, true
		}
	}
	return engine.Lack{}, false
}

// shownLacks is how many workers an error names.
const shownLacks = 3

// Stranded tells of which computations some partitions have no worker that can run
// them: why, by computation. Dead workers count as such once they are buried.
func Stranded(s State) map[string]string {
	out := map[string]string{}
	groups := map[string]*lacks{}
	living := s.living()
	for _, p := range s.Partitions {
		name := s.Group(p.Computation)
		if p.State == store.Completed || out[p.Computation] != "" {
			continue
		}
		if groups[name] == nil {
			groups[name] = newLacks(living[name], s.Lacks)
		}
		if why := groups[name].nobody(name, living[name], &p); why != "" {
			out[p.Computation] = why
		}
	}
	return out
}

// nobody returns why no worker can run a partition, nothing if one can.
func (l *lacks) nobody(group string, workers []store.Worker, p *store.Partition) string {
	if len(workers) == 0 && group == "" {
		return "no worker without a --group runs: start one with rondo worker"
	} else if len(workers) == 0 {
		return fmt.Sprintf("no worker of the group %s runs: start one with rondo worker --group %s", group, group)
	}
	var texts []string
	for _, w := range workers {
		lack, is := l.why(w.ID, l.kind(p))
		switch {
		case !is:
			return ""
		case len(texts) < shownLacks:
			texts = append(texts, fmt.Sprintf("%s: %s", w.ID, lack.Why))
		}
	}
	if more := len(workers) - shownLacks; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	what := "it"
	if p.Name != "" {
		what = fmt.Sprintf("its partition %s", p.Name)
	}
	return fmt.Sprintf("no worker can run %s (%s): start one that has what is lacking, or add that to one of these", what, strings.Join(texts, "; "))
}

// living are the workers that are not to be buried, by group.
func (s *State) living() map[string][]store.Worker {
	out := map[string][]store.Worker{}
	for _, w := range s.Workers {
		if w.Unseen <= s.Dead {
			out[w.Group] = append(out[w.Group], w)
		}
	}
	return out
}

// newlyStranded lists what is stranded now and was not before, or for another reason.
func newlyStranded(before, after map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(after)), func(c string) bool { return before[c] == after[c] })
}
