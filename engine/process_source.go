package engine

import (
	"context"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// sourceProcessor passes the rows of a source on into the computation's output
// streams.
type sourceProcessor struct {
	clock  clock
	router *router
	reader *sourceReader
	node   *node
	skip   skipper
	mark   routerMark
	// warn tells of rows that are passed over.
	warn func(why error)
}

func (p *sourceProcessor) follow(o *orders) error {
	p.skip = newSkipper(p.node, o.of(p.node))
	return nil
}

func (p *sourceProcessor) process(_ context.Context, e *partition.Epoch, res *result) error {
	p.router.begin(e.Number)
	began := p.clock.mono()
	rows, events := p.reader.hand(e.SourceRows)
	skipped := int64(0)
	for i, row := range rows {
		if i > 0 && !e.Budget.MoreMessages(p.clock.mono()-began, 0, p.router.outBytes) {
			break
		}
		event := p.router.system
		if events != nil {
			event = int64(events[i])
		}
		skips, err := p.skip.skips(p.node.sourceStream, row)
		switch {
		case err == nil && !skips:
			err = p.emit(row, event)
		case skips:
			skipped++
		}
		if err != nil {
			passedOver, err := p.reader.refuse(i, err)
			if !passedOver {
				return err
			}
			p.warn(err)
			res.processed.Refused++
		}
		res.processed.SourceRows++
	}
	if skipped > 0 {
		res.processed.Counts = append(res.processed.Counts, store.Count{Name: skippedCount, Value: skipped})
	}
	res.processed.MessageTime = p.clock.mono() - began
	finishOutput(p.router, res)
	return finishSource(p.router, p.reader, store.NoTime, res)
}

// emit passes a row on into all outputs, or into none.
func (p *sourceProcessor) emit(row schema.Row, event int64) error {
	if len(p.router.streams) > 1 {
		p.router.mark(&p.mark)
	}
	for i := range p.router.streams {
		if err := p.router.emit(i, row, event); err != nil {
			if i > 0 {
				p.router.undo(&p.mark)
			}
			return err
		}
	}
	return nil
}

// finishSource tells how far the source is consumed. It has come as far as the
// latest event: of what was emitted, or read.
func finishSource(r *router, reader *sourceReader, read int64, res *result) error {
	res.processed.SourceEvent = read
	for _, event := range r.maxEvents {
		res.processed.SourceEvent = max(res.processed.SourceEvent, event)
	}
	var malformed int
	if res.offset, malformed = reader.take(res.processed.SourceRows); res.offset == nil {
		return nil
	}
	if malformed > 0 {
		res.processed.Counts = append(res.processed.Counts, store.Count{Name: "malformed", Value: int64(malformed)})
	}
	var err error
	res.consumed, err = reader.position()
	return err
}

func (p *sourceProcessor) close() error { return p.reader.close() }

// sourceFunction runs a function over the rows of a source: each is a message of
// the source stream, without a key.
type sourceFunction struct{ *functionProcessor }

func newSourceFunction(j *job, f flow.Function) (sourceFunction, error) {
	p, err := newFunctionProcessor(j, f)
	if err != nil {
		return sourceFunction{}, err
	}
	p.reader = j.source
	return sourceFunction{p}, nil
}

func (p sourceFunction) process(ctx context.Context, e *partition.Epoch, res *result) error {
	if err := p.functionProcessor.process(ctx, e, res); err != nil {
		return err
	}
	n := res.processed.Messages
	res.processed.Messages, res.processed.SourceRows = 0, n
	return finishSource(p.router, p.reader, p.latestRead(n), res)
}

// latestRead is the latest event time of the first n rows as read. Where the
// outputs have their times from a column, those of rows are another thing.
func (p sourceFunction) latestRead(n int) int64 {
	latest := store.NoTime
	for i := range p.router.streams {
		if p.router.streams[i].assign != nil {
			return latest
		}
	}
	for i := range p.messages[:n] {
		latest = max(latest, int64(p.messages[i].EventTimestamp))
	}
	return latest
}

func (p sourceFunction) close() error { return p.reader.close() }

// gatherRows makes messages of the rows of the batch in hand.
func (p *functionProcessor) gatherRows(e *partition.Epoch) {
	rows, events := p.reader.hand(e.SourceRows)
	system := flow.Time(p.router.system)
	for i, row := range rows {
		m := flow.Message{
			Meta: flow.Meta{
				ID: flow.MessageID{
					Generation: uint64(p.router.generation), Epoch: e.Number,
					Stream: uint16(len(p.node.outputs)), Index: uint32(i),
				},
				StreamID: p.node.sourceStream, SystemTimestamp: system, EventTimestamp: system,
			},
			Payload: flow.NewPayload(p.node.sourceSchema, row),
		}
		if events != nil {
			m.EventTimestamp = events[i]
		}
		p.messages = append(p.messages, m)
	}
}
