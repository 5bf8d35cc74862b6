package fieldreport

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/visit"
)

// machines drive the visit machines of a stream alone: their wall clock and their
// partitions are the test's.
type machines struct {
	params visit.Params
	parts  []*machine
	gen    uint64
	now    visit.Instant
	keys   []visit.Key
	rec    *flowtest.Recorder
	schema *flow.KeySchema
}

// machine is one partition.
type machine struct {
	rng    visit.Range
	v      *visit.Visitor
	stored visit.Stored
}

const machineBuckets = 4

// newMachines makes one partition with n keys, evenly spread.
func newMachines(t *testing.T, period time.Duration, n int) *machines {
	m := &machines{schema: flowtest.Schema(t, "hash uint64 required"), params: visit.DefaultParams(), now: visit.Instant{Wall: int64(1e18)}}
	m.params.Period, m.params.Finite = period, false
	m.rec = flowtest.NewRecorder(func() time.Duration { return m.now.Mono })
	for i := range n {
		k := flowtest.Key(t, m.schema, inOrder(uint64(n))(uint64(i)))
		m.keys = append(m.keys, visit.Key{Hash: inOrder(uint64(n))(uint64(i)), Bytes: k.Encoded()})
		m.rec.Add(flowtest.Event{Kind: flowtest.MessageCall, Key: k, Left: 1})
	}
	m.parts = []*machine{{rng: visit.FullRange()}}
	m.restart()
	return m
}

// restart makes the machines of the next owner.
func (m *machines) restart() {
	m.gen++
	for _, p := range m.parts {
		p.v = visit.New(visit.Config{Stream: "sweep", Range: p.rng, Buckets: machineBuckets, Generation: m.gen, Sources: 1}, m.params, p.stored, m.now)
	}
}

// repartition replaces the partitions by n others.
func (m *machines) repartition(n int) {
	var old []visit.Piece
	for _, p := range m.parts {
		old = append(old, visit.Piece{Range: p.rng, Stored: p.stored})
	}
	ranges := visit.Split(visit.FullRange(), n)
	stored, _ := visit.Repartition(old, ranges, machineBuckets)
	m.parts = nil
	for i, r := range ranges {
		m.parts = append(m.parts, &machine{rng: r, stored: stored[i]})
	}
	m.restart()
}

// run goes on for a time.
func (m *machines) run(d time.Duration) {
	const tick = 10 * time.Millisecond
	for until := m.now.Mono + d; m.now.Mono < until; m.now.Mono, m.now.Wall = m.now.Mono+tick, m.now.Wall+int64(tick) {
		for _, p := range m.parts {
			m.fill(p)
			m.epoch(p)
		}
	}
}

func (m *machines) fill(p *machine) {
	for l, ok := p.v.NextList(m.now); ok; l, ok = p.v.NextList(m.now) {
		p.v.AcceptList(m.now, l)
		var a visit.Answer
		for _, k := range m.keys {
			if l.Range.Contains(k) {
				a.Keys = append(a.Keys, visit.Found{Key: k, Bytes: 1})
				a.Rows++
			}
		}
		p.v.Listed(m.now, l.Token, []visit.Answer{a})
	}
}

func (m *machines) epoch(p *machine) {
	p.v.EpochOpened(m.now)
	visits := p.v.NextVisits(m.now, nil, 1000)
	for _, v := range visits {
		m.rec.Add(flowtest.Event{Kind: flowtest.VisitCall, Key: flow.NewKey(m.schema, v.Key.Bytes), Pass: v.Pass, Found: 1, Left: 1})
	}
	p.v.AcceptVisits(m.now, visit.Outcome{Delivered: len(visits)})
	p.store(p.v.Delta())
	p.v.EpochCommitted(m.now)
}

func (p *machine) store(d visit.Delta) {
	if p.stored.Buckets == nil {
		p.stored.Buckets = map[int][]byte{}
	}
	if d.Record != nil {
		p.stored.Record = d.Record
	}
	for _, b := range d.Buckets {
		p.stored.Buckets[b.Index] = b.Value
		if b.Value == nil {
			delete(p.stored.Buckets, b.Index)
		}
	}
}

func TestR40ResizingAtEveryStepLeavesNobodyOut(t *testing.T) {
	t.Parallel()
	const period = 10 * time.Second
	m := newMachines(t, period, 64)
	m.repartition(8)
	for step := range 300 {
		m.run(time.Duration(300+step*37%400) * time.Millisecond) // about twenty times in a pass
		m.repartition([]int{32, 8, 3, 8}[step%4])
	}
	l := m.rec.All()
	// The bound across a split or a merge is 2.5 periods.
	for _, err := range []error{flowtest.Once(l), flowtest.Cover(l, period*25/10), flowtest.Gap(l, period*25/10)} {
		if err != nil {
			t.Error(err)
		}
	}
	if n := l.Visits(flowtest.Span{To: l.End}); n < 64*4 {
		t.Errorf("%d visits of 64 keys in %s", n, l.End)
	}
}
