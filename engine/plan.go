package engine

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// plan is what a spec means to the engine: a node for each computation, and one
// for each sink, in the order of their ids.
type plan struct{ nodes []*node }

func (p *plan) node(id string) *node {
	i := slices.IndexFunc(p.nodes, func(n *node) bool { return n.id == id })
	if i < 0 {
		return nil
	}
	return p.nodes[i]
}

// apply puts dynamic parameters in force.
func (p *plan) apply(d *spec.Dynamic) {
	for _, n := range p.nodes {
		n.dynamic = d.Computation(n.owner)
	}
}

// node is something that has partitions: a computation, or a sink outside the
// store. The first part follows from the spec; the second, from the layout.
type node struct {
	id        string
	owner     string // the computation: of a sink, the one that writes it
	kind      store.Kind
	key       *flow.KeySchema   // nil without group_by_schema
	checker   flow.TableChecker // the function, if it expects something of tables
	inputs    []inputPlan
	outputs   []partition.Output
	schemas   []*schema.Schema // of outputs
	assigners []assigner       // of outputs, nil for none
	timers    []timerPlan
	visitors  []visitorPlan
	managers  []tablePlan
	lookups   []lookupPlan
	joiners   []joinerPlan
	dynamic   *spec.DynamicComputation

	factory flow.Factory // computations with a function
	setup   flow.Setup
	emits   emitting
	order   func(*store.InboxRow) int64 // of input_ordering, nil for none

	source       connector.Source // source partitions
	sourceStream string
	sourceSchema *schema.Schema // of the rows as read
	generator    *spec.Generator
	alignment    *spec.Alignment
	delays       []delayPlan
	told         []partition.Output // streams of its own that sources stay behind
	sourceKeys   []string

	lacks []string // what of it this worker has not, see lacking

	sink       connector.Sink // sink partitions
	storeSinks []storeSink    // written in the node's own epochs

	partitions []store.Partition
	layout     uint64                // the version that they are of
	producers  [][]store.PartitionID // parallel to inputs
	out        []outStream
	consumers  []store.PartitionID
	heeded     bool // a consumer has timers by system time
}

// emitting says what a computation may emit from what.
type emitting uint8

const (
	// fromAll: from whatever the output depends on.
	fromAll emitting = iota
	// fromOneMessage and fromMessages are of swift_map, whose visits and timers
	// change state only (KV-42).
	fromOneMessage
	fromMessages
)

// storeSink is a sink in the store with the streams that it takes.
type storeSink struct {
	streams []string
	sink    connector.StoreSink
}

// inputPlan is an input stream and the node that produces it.
type inputPlan struct {
	stream   string
	producer string
	schema   *schema.Schema
	idle     *partition.Idle // of its producers; nil for never
}

// visitorPlan is a visit stream. index is its number in message ids, behind the
// outputs'.
type visitorPlan struct {
	stream   string
	index    uint16
	internal bool     // internal states are scanned
	names    []string // of them; nil: all
	managed  []int    // the external states that are scanned, behind them
	joined   []int    // the joiners that are scanned, behind those
	listed   []string // all names that are given
	buckets  int
	upstream []string
}

func (n *node) decoder() decoder {
	d := decoder{schemas: map[string]*schema.Schema{}, key: n.key}
	for _, in := range n.inputs {
		d.schemas[in.stream] = in.schema
	}
	return d
}

// sourceKey is the source's own key of a partition.
func (n *node) sourceKey(p store.Partition) string { return p.Name[len(n.sourceStream)+1:] }

// machineConfig is what the machine of a job is made of.
func (n *node) machineConfig(j *store.Job, d *spec.DynamicComputation) partition.Config {
	cfg := partition.Config{Job: j, Source: n.sourceStream, Outputs: n.outputs, Order: n.order, Params: n.params(d)}
	if n.generator != nil {
		cfg.OutOfOrder, cfg.SelfTimed = n.generator.OutOfOrdernessBound, n.generator.UseSourceWatermark
	}
	for i, in := range n.inputs {
		cfg.Inputs = append(cfg.Inputs, partition.Input{Stream: in.stream, Producers: n.producers[i], Idle: in.idle})
	}
	if n.systemTimed() {
		cfg.System = systemOf
	}
	for i := range n.timers {
		cfg.Timers = append(cfg.Timers, n.timers[i].config)
	}
	for i := range n.visitors {
		cfg.Visitors = append(cfg.Visitors, n.visitorConfig(d, &n.visitors[i], j.Partition))
	}
	return cfg
}

func (n *node) visitorConfig(d *spec.DynamicComputation, v *visitorPlan, p store.Partition) partition.Visitor {
	params := n.visitParams(d, v, len(n.partitions))
	place := slices.IndexFunc(n.partitions, func(o store.Partition) bool { return o.ID == p.ID })
	return partition.Visitor{
		Config: visit.Config{
			Stream: v.stream, Range: rangeOf(p), Buckets: v.buckets,
			Generation: uint64(p.Generation), Sources: v.sources(), NoUpstreams: len(v.upstream) == 0,
			Names:     v.listed,
			FirstTick: params.FillPeriod * time.Duration(place) / time.Duration(len(n.partitions)),
		},
		Params:   params,
		Upstream: v.upstream,
	}
}

// params are the machine's, from the dynamic spec.
func (n *node) params(d *spec.DynamicComputation) partition.Params {
	p := partition.DefaultParams()
	p.MaxRows, p.MaxBytes = d.MaxRowsPerBatch, int(d.MaxBytesPerBatch)
	p.MaxEpoch, p.ReportEvery = d.MaxEpochDuration, d.EmptyBatchBackoff
	for i := range n.visitors {
		p.Visitors = append(p.Visitors, n.visitParams(d, &n.visitors[i], len(n.partitions)))
		// Several visit streams of a computation share the largest share.
		share := d.VisitStream(n.visitors[i].stream).VisitShare
		if i == 0 || share > p.VisitShare {
			p.VisitShare = share
		}
	}
	return p
}

// visitParams are a visit stream's, from the dynamic spec; a limit for the whole
// stream is shared out over its partitions.
func (n *node) visitParams(c *spec.DynamicComputation, v *visitorPlan, partitions int) visit.Params {
	d := c.VisitStream(v.stream)
	p := visit.Params{
		Period: d.Period, FinalPassPeriod: d.FinalPassPeriod,
		FillPeriod: d.BackgroundFillPeriod, CatchupLagThreshold: d.CatchupLagThreshold, CatchupMultiplier: d.CatchupSpeedupMultiplier,
		MaxScanRows: int(d.MaxScanRowsPerIteration), BufferRowLimit: int(d.BufferRowLimit),
		BufferByteLimit: int(d.BufferByteLimit),
		Finite:          d.Finite, FullFinalPass: d.FullFinalPass, Enabled: d.Enabled,
	}
	if d.MaxVisitsPerSecond != nil {
		p.MaxVisitsPerSecond = *d.MaxVisitsPerSecond / float64(max(1, partitions))
	}
	return p
}

// rangeOf is the hash range of a partition.
func rangeOf(p store.Partition) visit.Range {
	if p.Open {
		return visit.Range{Lower: visit.AtHash(p.Lower), Upper: visit.Bound{End: true}}
	}
	return visit.Range{Lower: visit.AtHash(p.Lower), Upper: visit.AtHash(p.Upper)}
}
