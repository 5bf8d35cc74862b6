package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/visit"
	"github.com/rondo-flow/rondo/yson"
)

// joinerPlan is a static table that visit streams scan beside the state.
type joinerPlan struct {
	name, at string // at is where the spec says so
	table    *external.Joiner
}

// tablesOf are the names of the static tables that a computation joins.
func tablesOf(c *spec.Computation) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.ExternalJoiners)), func(name string) bool { return !c.ExternalJoiners[name].VisitorDriven() })
}

// joiners makes the static tables of a computation. A table of other columns is a
// problem of the spec. One that is not there, or cut off, is an outage as at any other
// time: it must not keep a pipeline from starting anew.
func (b *builder) joiners(ctx context.Context, n *node, c *spec.Computation, path string) {
	clock := newClock()
	for _, name := range tablesOf(c) {
		j, at := c.ExternalJoiners[name], yson.Join(path, "external_state_joiners", name)
		if n.key == nil || !b.sound(at) {
			continue
		}
		table, err := external.New(external.Options{
			Computation: c.ID, Name: name, Parameters: flow.NewParameters(j.Parameters, at+".parameters"),
			GroupBy: c.GroupBy, SpecDir: b.o.SpecDir, DataDir: b.o.DataDir, Now: clock.mono, Log: b.o.Log,
		})
		if err == nil {
			n.joiners = append(n.joiners, joinerPlan{name, at, table})
			err = n.setJoiner(len(n.joiners)-1, n.dynamic)
		}
		b.problem(at, err)
		if err != nil {
			continue
		}
		if table.InStore() {
			continue // it is looked at when the store is open
		}
		if err := table.Fits(ctx); errors.Is(err, external.ErrUnfit) {
			b.problem(at, err)
		} else if err != nil {
			b.o.Log.Warn("a table cannot be read now", "joiner", name, "error", err)
		}
	}
}

// setJoiner puts the dynamic parameters of a joiner in force.
func (n *node) setJoiner(i int, d *spec.DynamicComputation) error {
	p, err := external.ParseDynamic(n.joinerParameters(n.joiners[i].name, d))
	if err == nil {
		n.joiners[i].table.Set(p)
	}
	return err
}

// setJoiners puts the dynamic parameters of all joiners in force; they are checked.
func (o *orders) setJoiners(p *plan) {
	for _, n := range p.nodes {
		for i := range n.joiners {
			_ = n.setJoiner(i, o.of(n))
		}
	}
}

// joinerParameters are the dynamic parameters of a joiner of either kind.
func (n *node) joinerParameters(name string, d *spec.DynamicComputation) flow.Parameters {
	path := yson.Join("dynamic_spec.computations", n.owner, "external_state_joiners", name, "parameters")
	if c := d.ExternalJoiners[name]; c != nil {
		return flow.NewParameters(c.Parameters, path)
	}
	return flow.NewParameters(nil, path)
}

// scanned returns the places of the joiners that a visit stream scans (KV-1).
func (n *node) scanned(names []string) (out []int) {
	for i := range n.joiners {
		if slices.Contains(names, n.joiners[i].name) {
			out = append(out, i)
		}
	}
	return out
}

// scans makes the scans of a job: of each visit stream, one for each table.
func (n *node) scans() [][]*external.Scan {
	out := make([][]*external.Scan, len(n.visitors))
	for i := range n.visitors {
		for _, k := range n.visitors[i].joined {
			out[i] = append(out[i], n.joiners[k].table.Scan())
		}
	}
	return out
}

// listTables asks the tables of a visit stream about a slice, as far as the state
// is complete: rows beyond it would be read too early.
func (j *job) listTables(ctx context.Context, visitor int, l visit.List, answers []visit.Answer) ([]visit.Answer, error) {
	end, bytes := l.Range.Upper, l.MaxBytes
	for _, a := range answers {
		end, bytes = complete(l, a, end), max(1, bytes-a.Bytes)
	}
	for i, s := range j.scans[visitor] {
		a := visit.Answer{CompleteTo: &end}
		if end.Compare(l.Range.Lower) > 0 {
			var err error
			if a, err = listTable(ctx, s, l, end, bytes); err != nil {
				return nil, err
			}
		}
		if len(a.Keys) > 0 {
			a.Names = []string{j.node.joiners[j.node.visitors[visitor].joined[i]].name}
		}
		answers = append(answers, a)
		end, bytes = complete(l, a, end), max(1, bytes-a.Bytes)
	}
	return answers, nil
}

// complete is the position up to which an answer, too, is complete.
func complete(l visit.List, a visit.Answer, end visit.Bound) visit.Bound {
	if a.CompleteTo != nil && a.CompleteTo.Compare(end) < 0 {
		end = *a.CompleteTo
	}
	if n := len(a.Keys); n > 0 && a.Rows >= l.MaxRows && visit.At(a.Keys[n-1].Key).Compare(end) < 0 {
		end = visit.At(a.Keys[n-1].Key)
	}
	return end
}

func listTable(ctx context.Context, s *external.Scan, l visit.List, end visit.Bound, bytes int) (visit.Answer, error) {
	got, err := s.List(ctx, external.Slice{
		Bucket: l.Bucket, Lower: boundKey(l.Range.Lower), Upper: boundKey(end), MaxRows: l.MaxRows, MaxBytes: bytes,
	})
	if err != nil {
		return visit.Answer{}, err
	}
	a := visit.Answer{Rows: len(got.Entries), Unreadable: got.Unreadable || got.Doubtful, Keys: make([]visit.Found, len(got.Entries))}
	for i, e := range got.Entries {
		key, err := visitKey(e.Key)
		if err != nil {
			return visit.Answer{}, err
		}
		a.Keys[i] = visit.Found{Key: key, Rows: e, Bytes: e.Bytes}
		a.Bytes += e.Bytes
	}
	if end != l.Range.Upper {
		a.CompleteTo = &end
	}
	if got.CompleteTo != "" {
		key, err := visitKey(got.CompleteTo)
		if err != nil {
			return visit.Answer{}, err
		}
		bound := visit.At(key)
		a.CompleteTo = &bound
	}
	return a, nil
}

// join gives the state of a visited key what the tables have of it. It tells
// whether one of them has a row, by which the key is there (KV-28).
func (k *keyState) join(n *node, plan *visitorPlan, v *visit.Visit) (present bool) {
	if len(plan.joined) == 0 {
		return false
	}
	k.joined = make([]flow.Joined, len(n.joiners))
	k.joinedBy = plan.stream
	for i, at := range plan.joined {
		source := plan.source(i)
		if slices.Contains(v.Unknown, source) {
			k.joined[at] = flow.Joined{}
		} else {
			k.joined[at] = flow.AbsentRow()
		}
		for _, part := range v.Parts {
			if e, ok := part.Rows.(*external.Entry); ok && part.Source == source {
				k.joined[at] = flow.PresentRow(flow.NewPayload(e.Columns, e.Row))
				present = true
			}
		}
	}
	return present
}

// visible tells whether a visited key is still there: in a table that was listed,
// or with a state that is scanned (KV-28).
func (k *keyState) visible(n *node, plan *visitorPlan, v *visit.Visit) (bool, error) {
	if k.join(n, plan, v) {
		return true, nil
	}
	if there, err := k.hasRow(plan.managed); there || err != nil || !plan.internal {
		return there, err
	}
	return k.present(plan.names)
}

// source is the number of a table among the sources of a visit stream.
func (v *visitorPlan) source(table int) int {
	table += len(v.managed)
	if v.internal {
		table++
	}
	return table
}

// sources is how many there are. One that finds nothing stands for none: a stream may
// list joiners alone that look keys up (KV-2).
func (v *visitorPlan) sources() int { return max(1, v.source(len(v.joined))) }

// Joined implements flow.Runtime: the row that an input looks up, or the one that was
// listed with a visit.
func (r *callRuntime) Joined(name string, of flow.Keyed) (flow.Joined, error) {
	if i := slices.IndexFunc(r.lookups, func(l *lookup) bool { return l.name == name }); i >= 0 {
		j, err := r.lookups[i].find(r.ctx, of)
		return j, r.fail(err)
	}
	at := slices.IndexFunc(r.node.joiners, func(j joinerPlan) bool { return j.name == name })
	if at < 0 {
		return flow.Joined{}, r.fail(fmt.Errorf("computation %s has no table of this name: add it to external_state_joiners", r.node.id))
	}
	stream, key := streamOf(of), flow.KeyOf(of)
	if _, visit := of.(flow.Visit); !visit {
		return flow.Joined{}, r.fail(fmt.Errorf("it is scanned, and known of the keys of visits alone: an input of stream %s cannot ask for its row; let a visit put what is needed into the state, or join a table of the class simple", stream))
	}
	k, err := r.state(key)
	if err != nil {
		return flow.Joined{}, err
	}
	by := slices.IndexFunc(r.node.visitors, func(v visitorPlan) bool { return v.stream == stream && slices.Contains(v.joined, at) })
	if by < 0 || k.joinedBy != stream {
		return flow.Joined{}, r.fail(fmt.Errorf("it is known of the keys of visits by a stream that scans it, and %s is none: add it to that stream's external_names", stream))
	}
	return k.joined[at], nil
}

func (j *job) closeScans() {
	for _, scans := range j.scans {
		for _, s := range scans {
			s.Close()
		}
	}
}

// watchPasses tells tables of passes that are completed, each once.
func (j *job) watchPasses(s *partition.Status) {
	last := lastPasses(s)
	for i, before := range j.passes {
		if last[i] > before {
			j.passCompleted(i)
		}
	}
	j.passes = last
}

// lastPasses are the numbers of the passes that visit streams completed last, 0 for none.
func lastPasses(s *partition.Status) []uint64 {
	last := make([]uint64, len(s.Passes))
	for i, passes := range s.Passes {
		if n := len(passes); n > 0 {
			last[i] = passes[n-1].Pass
		}
	}
	return last
}

// passCompleted tells the tables of a visit stream that a pass over them is done.
func (j *job) passCompleted(visitor int) {
	for _, at := range j.node.visitors[visitor].joined {
		if err := j.node.joiners[at].table.PassCompleted(); err != nil {
			j.env.log.Warn("the length of a table is not remembered", "error", err)
		}
	}
}

// beginJoiners tells all tables that a run begins: before, the data folder was not
// this process's alone.
func (p *plan) beginJoiners() error {
	for _, n := range p.nodes {
		for _, j := range n.joiners {
			if err := j.table.Begin(); err != nil {
				return fmt.Errorf("computation %s, joiner %s: %w", n.id, j.name, err)
			}
		}
	}
	return nil
}

// closeJoiners lets go of all tables.
func (p *plan) closeJoiners() {
	for _, n := range p.nodes {
		for _, j := range n.joiners {
			j.table.Close()
		}
	}
}

// tableProblems tells of tables that cannot be read, or are not believed.
func (n *node) tableProblems(at string) (out []Problem) {
	for _, j := range n.joiners {
		s := j.table.Status()
		name := strings.TrimPrefix(j.name, "/")
		if s.Unavailable != "" {
			out = append(out, Problem{at + "/external_state_joiners/" + name + "/source_unavailable", s.Unavailable, false})
		}
		if s.Doubtful {
			out = append(out, Problem{at + "/external_state_joiners/" + name + "/shrunk", fmt.Sprintf("%s has become so short that what it does not have counts as unknown (rows: %d): if this is right, run rondo table accept, with %s %s behind the spec file", s.Path, s.Rows, n.owner, j.name), true})
		}
	}
	return out
}

// JoinedTable describes a static table that a computation joins.
type JoinedTable struct {
	Computation string
	external.Status
}

// JoinedTables describes the static tables that a pipeline joins.
func (p *Pipeline) JoinedTables() (out []JoinedTable) {
	for _, n := range p.plan.nodes {
		for _, j := range n.joiners {
			out = append(out, JoinedTable{n.id, j.table.Status()})
		}
	}
	return out
}
