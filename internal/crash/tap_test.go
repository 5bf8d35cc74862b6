package crash

import (
	"context"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// tap says what a run does with its store.
type tap struct {
	store.Store
	reporter *reporter
	pressure *pressure
	*relayouter
}

var _ store.Store = (*tap)(nil)

func (t *tap) Partitions(ctx context.Context) ([]store.Partition, error) {
	ps, err := t.Store.Partitions(ctx)
	t.pressure.learn(ps)
	return ps, err
}

func (t *tap) CreatePartitions(ctx context.Context, ps []store.Partition) ([]store.Partition, error) {
	t.reporter.say("before create")
	ps, err := t.Store.CreatePartitions(ctx, ps)
	t.pressure.learn(ps)
	t.reporter.say("after create")
	return ps, err
}

func (t *tap) Relayout(ctx context.Context, r store.Relayout) ([]store.Partition, error) {
	t.reporter.say("before relayout")
	ps, err := t.Store.Relayout(ctx, r)
	t.reporter.say("after relayout")
	return ps, err
}

func (t *tap) SavePipeline(ctx context.Context, p *store.Pipeline) error {
	t.reporter.say("before save")
	err := t.Store.SavePipeline(ctx, p)
	t.reporter.say("after save")
	return err
}

func (t *tap) InboxSizes(ctx context.Context) ([]store.InboxSize, error) {
	sizes, err := t.Store.InboxSizes(ctx)
	t.pressure.start(sizes)
	return sizes, err
}

func (t *tap) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	t.reporter.say("before generation of %s", t.pressure.name(id))
	job, err := t.Store.RaiseGeneration(ctx, id)
	t.reporter.say("after generation of %s", t.pressure.name(id))
	return job, err
}

func (t *tap) ReadInbox(ctx context.Context, r store.InboxRequest) (*store.InboxAnswer, error) {
	t.reporter.say("inbox of %s", t.pressure.name(r.Target))
	return t.Store.ReadInbox(ctx, r)
}

func (t *tap) Commit(ctx context.Context, c *store.Commit) error {
	what := describe(c)
	t.reporter.say("before commit of %s%s", t.pressure.name(c.Partition), what)
	err := t.Store.Commit(ctx, c)
	if err == nil {
		t.pressure.committed(c)
		t.relayouter.committed(t.pressure.kind(c.Partition))
	}
	t.reporter.say("after commit of %s%s", t.pressure.name(c.Partition), what)
	return err
}

// describe says what is special about a commit: finished tells consumers that
// nothing more comes, done completes the partition, in one that fires timers go.
func describe(c *store.Commit) string {
	var b strings.Builder
	if c.Report != nil && finished(c.Report) {
		b.WriteString(" finished")
	}
	if c.Done {
		b.WriteString(" done")
	}
	if len(c.TimersGone) > 0 {
		b.WriteString(" fires")
	}
	if len(c.Taken) > 0 {
		fmt.Fprintf(&b, " takes %d", len(c.Taken))
	}
	return b.String()
}

func finished(r *store.Report) bool {
	for _, s := range r.Streams {
		if s.State != store.Finished {
			return false
		}
	}
	return true
}
