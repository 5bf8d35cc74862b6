package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// lookupPlan is a table in the store in which a computation looks rows up.
type lookupPlan struct {
	tablePlan
	preload   bool
	providers *[]string      // streams whose keys are looked up; nil: all
	key       *schema.Schema // of what is looked up
	// byStream makes keys of messages, and of timers, if they are not those of the
	// inputs; nil if they are.
	byStream map[string]*schema.Grouper
}

// lookups makes the tables in which a computation looks rows up.
func (b *builder) lookups(n *node, c *spec.Computation, path string) {
	for _, name := range slices.Sorted(maps.Keys(c.ExternalJoiners)) {
		j, at := c.ExternalJoiners[name], yson.Join(path, "external_state_joiners", name)
		if j.VisitorDriven() || !b.sound(at, c.Inputs...) {
			continue
		}
		table, err := external.TableName(flow.NewParameters(j.Parameters, at+".parameters"))
		l := lookupPlan{tablePlan: tablePlan{name, table, at}, preload: j.AutoPreload, providers: j.JoinOn.KeyProviders, key: n.key}
		if err == nil && j.JoinOn.KeySchemaOverride != nil {
			l.key = j.JoinOn.KeySchemaOverride
			err = b.overridden(&l, c)
		}
		if err == nil && l.key == nil {
			err = errors.New("the computation has no keys: say which key is looked up, with join_on.key_schema_override")
		}
		if err == nil {
			_, err = external.ParseLookup(n.joinerParameters(name, n.dynamic))
		}
		b.problem(at, err)
		n.lookups = append(n.lookups, l)
	}
}

// overridden compiles how the keys of a joiner's own are made of those who provide
// them.
func (b *builder) overridden(l *lookupPlan, c *spec.Computation) error {
	l.byStream = map[string]*schema.Grouper{}
	var problems []error
	compile := func(stream string, input *schema.Schema) {
		if !l.provides(stream) {
			return
		}
		g, err := schema.NewGrouper(l.key, input)
		if err != nil {
			err = fmt.Errorf("the key of stream %s: %w", stream, err)
		}
		l.byStream[stream], problems = g, append(problems, err)
	}
	for _, id := range c.Inputs {
		compile(id, b.schema(id))
	}
	for _, id := range c.SourceIDs() {
		if s := b.o.Spec.Pipeline.SchemaOf(c, id); s != nil {
			compile(id, s)
		}
	}
	for _, id := range c.TimerStreamIDs() {
		compile(id, c.GroupBy)
	}
	return errors.Join(problems...)
}

// fits tells why keys that are looked up are none of a table.
func (l *lookupPlan) fits(form *schema.Table) error {
	if l.byStream != nil {
		return form.CheckOverride(l.key)
	}
	return form.CheckKey(l.key)
}

func (l *lookupPlan) provides(stream string) bool {
	return l.providers == nil || slices.Contains(*l.providers, stream)
}

// keyOf is the key that an input looks up. That of a visit is taken as it is.
func (l *lookupPlan) keyOf(of flow.Keyed) (string, error) {
	key := flow.KeyOf(of)
	g := l.byStream[streamOf(of)]
	if _, visit := of.(flow.Visit); visit || g == nil {
		return key.Encoded(), nil
	}
	var row schema.Row
	var err error
	if m, is := of.(flow.Message); is {
		row = m.Payload.Row()
	} else if row, err = key.Row(); err != nil {
		return "", err
	}
	b, _, err := g.AppendKey(nil, row)
	return string(b), err
}

// lookup is a table of a job in which it looks rows up.
type lookup struct {
	*lookupPlan
	table boundTable
	rows  store.Rows
	cache rowCache
	now   func() time.Duration
	epoch map[string][]byte // what the epoch in hand has read; empty for no row
}

func newLookups(j *job) []*lookup {
	var out []*lookup
	for i := range j.node.lookups {
		out = append(out, &lookup{
			lookupPlan: &j.node.lookups[i], table: j.looked[i], rows: j.env.store, now: j.env.clock.mono,
			cache: newRowCache(), epoch: map[string][]byte{},
		})
	}
	return out
}

// read makes sure that the epoch has the rows of keys, from the cache or the store.
func (l *lookup) read(ctx context.Context, keys []string) error {
	var missing []string
	for _, key := range keys {
		if _, ok := l.epoch[key]; ok {
			continue
		}
		value, ok := l.cache.get(key, l.now())
		if l.epoch[key] = value; !ok {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found, err := l.rows.GetRows(ctx, l.table.id, missing)
	if err != nil {
		for _, key := range missing {
			delete(l.epoch, key) // it is not absent
		}
		return fmt.Errorf("look %d rows up in table %s: %w", len(missing), l.table.path, err)
	}
	for i, key := range missing {
		l.epoch[key] = found[i]
		l.cache.put(key, found[i], l.now())
	}
	return nil
}

// prepare reads what the inputs of an epoch will look up, in one read. An input that
// has no key says so when it looks it up, which may be left out (D-24).
func (l *lookup) prepare(ctx context.Context, p *functionProcessor, e *partition.Epoch) error {
	clear(l.epoch)
	if !l.preload {
		return nil
	}
	var keys []string
	add := func(of flow.Keyed) {
		if key, err := l.keyOf(of); err == nil {
			keys = append(keys, key)
		}
	}
	for i := range p.messages {
		if l.provides(p.messages[i].StreamID) {
			add(p.messages[i])
		}
	}
	for i := range e.Timers {
		t := &e.Timers[i]
		if stream := p.node.timers[t.Stream].config.Stream; l.provides(stream) {
			add(flow.Timer{Meta: flow.Meta{StreamID: stream}, Key: flow.NewKey(p.node.key, t.Key)})
		}
	}
	for _, vs := range e.Visits {
		if !l.provides(p.node.visitors[vs.Visitor].stream) {
			continue
		}
		for i := range vs.Visits {
			add(flow.Visit{Key: flow.NewKey(p.node.key, vs.Visits[i].Key.Bytes)})
		}
	}
	return l.read(ctx, keys)
}

// find answers for an input.
func (l *lookup) find(ctx context.Context, of flow.Keyed) (flow.Joined, error) {
	if stream := streamOf(of); !l.provides(stream) {
		return flow.Joined{}, fmt.Errorf("stream %s is none of the joiner's key_provider_streams, %v: add it there", stream, *l.providers)
	}
	key, err := l.keyOf(of)
	if err == nil {
		err = l.read(ctx, []string{key})
	}
	if err != nil {
		return flow.Joined{}, err
	}
	value := l.epoch[key]
	if len(value) == 0 {
		return flow.AbsentRow(), nil
	}
	row, err := l.table.form.Decode(key, value)
	if err != nil {
		return flow.Joined{}, fmt.Errorf("table %s: the row of %s: %w", l.table.path, flow.NewKey(l.key, key), err)
	}
	return flow.PresentRow(flow.NewPayload(l.table.form.Columns(), row)), nil
}

// streamOf is the stream that an input came by.
func streamOf(of flow.Keyed) string {
	switch in := of.(type) {
	case flow.Message:
		return in.StreamID
	case flow.Timer:
		return in.StreamID
	case flow.Visit:
		return in.StreamID
	default:
		return ""
	}
}

// checkLookups checks the dynamic parameters of joiners that look rows up.
func (n *node) checkLookups(d *spec.DynamicComputation) error {
	for i := range n.lookups {
		if _, err := external.ParseLookup(n.joinerParameters(n.lookups[i].name, d)); err != nil {
			return err
		}
	}
	return nil
}

// follow puts dynamic parameters in force; they are checked.
func (l *lookup) follow(n *node, d *spec.DynamicComputation) {
	p, err := external.ParseLookup(n.joinerParameters(l.name, d))
	if err == nil {
		l.cache.limit(p.Cache.TTL, int(p.Cache.MaxBytes))
	}
}
