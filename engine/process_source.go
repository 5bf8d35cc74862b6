package engine

import (
	"context"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// sourceProcessor passes the rows of a source on into the computation's output
// stream.
type sourceProcessor struct {
	clock  clock
	router *router
	reader *sourceReader
	// warn tells of rows that are passed over.
	warn func(why error)
}

func (p *sourceProcessor) process(_ context.Context, e *partition.Epoch, res *result) error {
	wall := p.clock.now().Wall
	p.router.begin(e.Number, wall)
	began := p.clock.mono()
	rows, events := p.reader.hand(e.SourceRows)
	for i, row := range rows {
		if i > 0 && !e.Budget.MoreMessages(p.clock.mono()-began, 0, p.router.outBytes) {
			break
		}
		event := wall
		if events != nil {
			event = int64(events[i])
		}
		if err := p.router.emit(0, row, event); err != nil {
			passedOver, err := p.reader.refuse(i, err)
			if !passedOver {
				return err
			}
			p.warn(err)
			res.processed.Refused++
		}
		res.processed.SourceRows++
	}
	res.processed.SourceEvent = p.router.maxEvents[0]
	res.processed.MessageTime = p.clock.mono() - began
	finishOutput(p.router, res)
	var skipped int
	if res.offset, skipped = p.reader.take(res.processed.SourceRows); res.offset == nil {
		return nil
	}
	if skipped > 0 {
		res.processed.Counts = []store.Count{{Name: "malformed", Value: int64(skipped)}}
	}
	var err error
	res.consumed, err = p.reader.position()
	return err
}

func (p *sourceProcessor) close() error { return p.reader.close() }
