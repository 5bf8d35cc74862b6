package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// job drives the machine of one partition for one generation. run is its
// goroutine, and everything below run belongs to it.
type job struct {
	jobTables
	env     *environment
	node    *node
	board   *board
	stored  *store.Job
	orders  *orders
	machine *partition.Machine
	proc    processor
	source  *sourceReader // nil without a source
	box     *mailbox
	router  *router
	busy    busy
	// answers brings the results of lists and surveys; each visit and timer stream
	// has at most one under way, so it never blocks a sender.
	answers  chan partition.Event
	buffers  buffers
	scans    [][]*external.Scan // of static tables, by visit stream
	passes   []uint64           // that were completed last, by visit stream
	lists    sync.WaitGroup
	writers  map[store.PartitionID][]int // nil unless a timer stream goes by system time
	blocked  []bool                      // outputs, as the machine was told
	looped   []bool
	drained  bool
	held     bool                // as readers were told
	idlers   []store.PartitionID // producers that may be idle
	heldSeen uint64              // up to which of them is known who is held back
	mind     *mind               // nil if nobody has to tell anything
	limit    partition.Aligned
	delay    partition.Delayed
	reported time.Duration
	stale    bool // what is published is no longer so
	warned   time.Duration
	result   result
}

// outcome is how a job ended without an error.
type outcome uint8

const (
	completed outcome = iota + 1
	paused
)

// errCompleted: the commit that completed the partition was durable, though its
// outcome was lost. A Completed partition never runs again (KV-37); what its
// last job could not tell its consumers is told by whoever finds out.
var errCompleted = errors.New("the partition is completed")

// startJob gives the partition a new generation and builds the job on what is
// stored. The mailbox is opened first: what is committed by others from then on
// is either handed over or found by the reads that follow (D-1, D-16).
func startJob(ctx context.Context, env *environment, n *node, b *board, id store.PartitionID) (*job, error) {
	j := &job{env: env, node: n, board: b, box: env.exchange.open(id), orders: env.orders.Load()}
	if err := j.load(ctx, id); err != nil {
		env.exchange.close(id, j.box)
		return nil, err
	}
	return j, nil
}

func (j *job) load(ctx context.Context, id store.PartitionID) (err error) {
	if j.stored, err = j.env.store.RaiseGeneration(ctx, id); err != nil {
		return fmt.Errorf("take over the partition: %w", err)
	}
	if j.node.heeded {
		j.env.exchange.settleEpoch(id, j.node.consumers)
	}
	if j.stored.Partition.State == store.Completed {
		j.tell(j.stored.Report, nil)
		return errCompleted
	}
	reports, err := j.env.reports.of(ctx, j.env.store, j.node)
	if err == nil {
		err = j.env.plan.current(&j.stored.Partition, reports)
	}
	if err != nil {
		return err
	}
	if j.tables, j.looked, err = j.node.bind(ctx, j.env.store); err != nil {
		return err
	}
	j.busy.where = fmt.Sprintf("computation %s, partition %d", j.node.id, id)
	j.router = newRouter(j.node.out, j.stored.Partition.Generation, j.beginEpoch)
	if j.node.systemTimed() {
		j.writers = j.node.writers()
	}
	if j.idlers = j.node.idlers(); j.idlers != nil || j.writers != nil {
		j.mind = j.env.newMind(j.node)
	}
	j.blocked, j.looped = make([]bool, len(j.node.outputs)), make([]bool, len(j.node.outputs))
	j.scans = j.node.scans()
	j.answers = make(chan partition.Event, len(j.node.visitors)+len(j.node.timers))
	if err := j.openProcessor(ctx); err != nil {
		return err
	}
	now := j.env.clock.now()
	cfg := j.node.machineConfig(j.stored, j.orders.of(j.node))
	if j.env.member != nil {
		cfg.Told = j.node.told
	}
	j.machine = partition.New(cfg, now)
	begun := j.machine.Status(now)
	j.passes = lastPasses(&begun)
	j.machine.Step(now, partition.ReportsRead{Reports: reports})
	j.order(now)
	for _, w := range j.machine.Warnings() {
		j.env.log.Warn("stored coverage is read again", "computation", j.node.id, "partition", id, "reason", w)
	}
	return nil
}

func (j *job) openProcessor(ctx context.Context) (err error) {
	part := j.stored.Partition
	switch part.Kind {
	case store.SourcePartition:
		if j.source, err = openSource(ctx, j.node, part, j.stored.Offset); err != nil {
			return err
		}
		return j.openSourceProcessor()
	case store.SinkPartition:
		sink, err := openSink(ctx, j.node, j.stored, j.env.member != nil)
		if err != nil {
			return err
		}
		j.proc = sink
		return j.recordStart(ctx, sink)
	default:
		f, err := j.newFunction()
		if err != nil {
			return err
		}
		j.proc, err = newFunctionProcessor(j, f)
		return err
	}
}

func (j *job) openSourceProcessor() error {
	if j.node.factory == nil {
		p := &sourceProcessor{clock: j.env.clock, router: j.router, reader: j.source, node: j.node, warn: j.warnOfSkipped}
		j.proc = p
		return p.follow(j.orders)
	}
	f, err := j.newFunction()
	if err != nil {
		return errors.Join(err, j.source.close())
	}
	if j.proc, err = newSourceFunction(j, f); err != nil {
		return errors.Join(err, j.source.close())
	}
	return nil
}

func (j *job) newFunction() (flow.Function, error) {
	f, err := made(j.node.factory(j.node.setup))
	if err != nil {
		return nil, fmt.Errorf("function of computation %s: %w", j.node.id, err)
	}
	return f, nil
}

// recordStart stores where a sink starts before anything is written to it.
func (j *job) recordStart(ctx context.Context, sink *sinkProcessor) error {
	part := j.stored.Partition
	err := j.env.store.Commit(ctx, &store.Commit{
		Partition: part.ID, Generation: part.Generation, Computation: part.Computation,
		Routing: part.Routing, Position: sink.position, States: sink.began,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("record where the sink starts: %w", err), j.proc.close())
	}
	return nil
}

// close ends everything that the job started. It is called once, after run.
func (j *job) close() error {
	j.letGo(j.env.clock.now())
	j.env.exchange.close(j.stored.Partition.ID, j.box)
	j.lists.Wait()
	j.closeScans()
	j.env.buffers.give(j.buffers.held)
	return j.proc.close()
}

// run drives the machine until the partition is completed or the pipeline
// stops. Any error ends the job: there is no way to repeat an epoch in place.
func (j *job) run(ctx context.Context) (outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends lists in flight
	id := j.stored.Partition.ID
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		now := j.env.clock.now()
		if err := j.takeIn(now); err != nil {
			return 0, err
		}
		r := j.machine.Ready(now)
		if r.Finished {
			status := j.machine.Status(now)
			j.watchPasses(&status)
			return completed, nil
		}
		if j.env.halted() {
			return paused, nil
		}
		if j.board.setDrained(r.Drained) {
			j.env.quiesce()
		}
		j.reserve(r.Lists)
		j.machine.Accept(now, r)
		acted, err := j.act(ctx, r)
		if err != nil {
			return 0, err
		}
		if !acted {
			if j.machine.InboxEmpty() {
				j.env.exchange.empty(id, j.box)
			}
			j.publish(now, false)
			if err := j.wait(ctx, r); err != nil {
				return 0, err
			}
		}
	}
}

// takeIn steps everything that has come in since the last time.
func (j *job) takeIn(now visit.Instant) error {
	passed := j.passed() // before what is handed over by then is taken
	items, lost := j.box.take()
	for _, h := range items {
		j.machine.Step(now, h)
	}
	if lost != nil {
		j.machine.Step(now, *lost)
	}
	if passed != nil {
		j.machine.Step(now, partition.SystemPassed{Times: passed})
	}
	for more := true; more; {
		select {
		case e := <-j.answers:
			j.stepAnswer(now, e)
		case a := <-j.sourceAnswers():
			if err := j.stepSource(now, a); err != nil {
				return err
			}
		default:
			more = false
		}
	}
	if j.tableGone.Load() {
		return fmt.Errorf("%w any more, or it was replaced: the job looks for it anew", store.ErrNoTable)
	}
	if err := j.takeOrders(now); err != nil {
		return err
	}
	j.takeRoom(now)
	j.takeBlocked(now)
	j.takeDrain(now)
	j.align(now)
	j.hold(now)
	j.tellHeld(now, j.source != nil && j.machine.HeldBack())
	j.passTime(now)
	return nil
}

func (j *job) takeDrain(now visit.Instant) {
	if !j.env.draining.Load() || j.drained {
		return
	}
	j.drained = true
	if j.source != nil {
		j.source.drain()
	}
	j.machine.Step(now, partition.Draining{})
}

func (j *job) sourceAnswers() <-chan sourceAnswer {
	if j.source == nil {
		return nil
	}
	return j.source.answers
}

// warnEvery bounds how often one source's losses are logged.
const warnEvery = 10 * time.Second

// warnOfLosses logs rows that a source passed over or found gone.
func (j *job) warnOfLosses(b connector.Batch) {
	if b.Gap != "" {
		j.env.log.Warn("rows of a source are gone", "source", j.stored.Partition.Name, "reason", b.Gap)
	}
	if b.Skipped > 0 {
		j.warnOfSkipped(b.SkippedFirst)
	}
}

func (j *job) warnOfSkipped(first error) {
	now := j.env.clock.mono()
	if j.warned != 0 && now-j.warned < warnEvery {
		return
	}
	j.warned = now
	j.env.log.Warn("malformed rows are passed over", "source", j.stored.Partition.Name, "first", first)
}

func (j *job) stepSource(now visit.Instant, a sourceAnswer) error {
	if a.err != nil {
		return fmt.Errorf("read source %s: %w", j.stored.Partition.Name, a.err)
	}
	j.warnOfLosses(a.batch)
	read := j.source.accept(a.batch)
	read.MaxEvent = j.source.latest(j.node, now)
	j.machine.Step(now, read)
	return nil
}

// takeBlocked tells the machine when targets of its outputs became full, or are
// no longer (D-18).
func (j *job) takeBlocked(now visit.Instant) {
	changed, full := false, j.env.exchange.full
	for i := range j.router.streams {
		s := &j.router.streams[i]
		blocked, looped := slices.ContainsFunc(s.ahead, full), slices.ContainsFunc(s.loop, full)
		changed = changed || blocked != j.blocked[i] || looped != j.looped[i]
		j.blocked[i], j.looped[i] = blocked, looped
	}
	if changed {
		j.machine.Step(now, partition.Blocked{Outputs: slices.Clone(j.blocked), Loops: slices.Clone(j.looped)})
	}
}

// act does what the machine allows. It returns false when there was nothing to
// do but wait.
func (j *job) act(ctx context.Context, r partition.Ready) (bool, error) {
	for _, l := range r.Lists {
		j.list(ctx, l)
	}
	if r.ReadSource != nil {
		j.source.request(r.ReadSource)
	}
	if r.ReadInbox != nil {
		a, err := j.env.store.ReadInbox(ctx, *r.ReadInbox)
		if err != nil {
			return false, fmt.Errorf("read inbox: %w", err)
		}
		j.machine.Step(j.env.clock.now(), partition.InboxRead{Rows: a.Rows, End: a.End})
	}
	if err := j.readTimers(ctx, r.ReadTimers); err != nil {
		return false, err
	}
	for _, s := range r.SurveyTimers {
		j.surveyTimers(ctx, s)
	}
	if r.Epoch != nil {
		return true, j.runEpoch(ctx, r.Epoch)
	}
	return r.ReadInbox != nil || len(r.ReadTimers) > 0, nil
}

// runEpoch processes, commits, and only then lets anybody see it.
func (j *job) runEpoch(ctx context.Context, e *partition.Epoch) error {
	j.result = result{states: j.result.states[:0], rows: j.result.rows[:0], written: j.result.written[:0]}
	if err := j.proc.process(ctx, e, &j.result); err != nil {
		j.endEpoch()
		return err
	}
	j.machine.Step(j.env.clock.now(), j.result.processed)
	r := j.machine.Ready(j.env.clock.now())
	j.machine.Accept(j.env.clock.now(), partition.Ready{Commit: r.Commit})
	j.result.fill(r.Commit)
	j.env.exchange.begin(r.Commit.Produced)
	if err := j.env.store.Commit(ctx, r.Commit); err != nil {
		j.env.exchange.giveUp(r.Commit.Produced)
		return fmt.Errorf("commit epoch %d: %w", e.Number, err)
	}
	now := j.env.clock.now()
	j.handOver(r.Commit, e)
	j.endEpoch()
	j.machine.Step(now, partition.Committed{Written: j.result.written, Names: j.result.names})
	j.publish(now, false)
	return nil
}

// handOver tells consumers of a durable epoch.
func (j *job) handOver(c *store.Commit, e *partition.Epoch) {
	x := j.env.exchange
	for i := range c.Produced {
		row := &c.Produced[i]
		x.post(row.Target, partition.Handover{Row: row, Report: c.Report})
	}
	j.tell(c.Report, c.Produced)
	messages, bytes := 0, 0
	for i, t := range c.Taken {
		messages += t.To - t.From
		if t.Remove {
			bytes += len(e.Messages[i].Row.Payload)
		}
	}
	if len(c.Taken) > 0 {
		x.release(j.stored.Partition.ID, messages, bytes)
	}
}

// tell hands a report over to the consumers that did not get it with a row. Both
// are ordered by partition.
func (j *job) tell(r *store.Report, rows []store.InboxRow) {
	if r == nil {
		return
	}
	for _, id := range j.node.consumers {
		for len(rows) > 0 && rows[0].Target < id {
			rows = rows[1:]
		}
		if len(rows) == 0 || rows[0].Target != id {
			j.env.exchange.post(id, partition.Handover{Report: r})
		}
	}
}

// wait sleeps until something happens that the machine should hear of.
func (j *job) wait(ctx context.Context, r partition.Ready) error {
	var wake <-chan time.Time
	if at := j.reported + publishEvery; j.stale && (!r.Wake || at < r.WakeAt) {
		r.Wake, r.WakeAt = true, at
	}
	if r.Wake {
		t := time.NewTimer(max(0, r.WakeAt-j.env.clock.mono()))
		defer t.Stop()
		wake = t.C
	}
	select {
	case <-ctx.Done():
	case <-j.box.signal:
	case <-wake:
	case e := <-j.answers:
		j.stepAnswer(j.env.clock.now(), e)
	case a := <-j.sourceAnswers():
		return j.stepSource(j.env.clock.now(), a)
	}
	return nil
}
