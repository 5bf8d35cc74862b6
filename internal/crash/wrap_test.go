package crash

import (
	"context"
	"errors"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/store"
)

// wrappers go around the real function, source and sinks, under the same names.
type wrappers struct {
	reporter *reporter
	pressure *pressure
	gate     <-chan struct{} // the source's last line waits for it, unless nil
	slow     string
	*relayouter
}

func (w *wrappers) register(functions *flow.Registry, connectors *connector.Registry) error {
	var files connector.Registry
	if err := file.Register(&files); err != nil {
		return err
	}
	source, _ := files.Source(file.Class)
	sink, _ := files.Sink(file.Class)
	return errors.Join(
		functions.Register("rollup", w.function),
		functions.Register("ledger", newLedger),
		connectors.AddSource(file.Class, func(s connector.Setup) (connector.Source, error) {
			real, err := source(s)
			return &watchedSource{real, w}, err
		}),
		connectors.AddSink(file.Class, func(s connector.Setup) (connector.Sink, error) {
			real, err := sink(s)
			return &watchedSink{real, w, s.Name}, err
		}))
}

func (w *wrappers) function(s flow.Setup) (flow.Function, error) {
	real, err := function.NewRollup(s)
	if err != nil {
		return nil, err
	}
	return &watchedFunction{RowFunction: real.(flow.RowFunction), visits: real.(flow.RowVisitFunction), w: w}, nil
}

// watchedFunction says when a pass begins, and may be slow.
type watchedFunction struct {
	flow.RowFunction
	visits   flow.RowVisitFunction
	w        *wrappers
	messages int
	pass     uint64 // of the last visit
	final    bool
}

// slowEvery is after how many messages a slow function waits.
const slowEvery = 40

func (f *watchedFunction) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	f.messages++
	if f.w.slow == "function" && f.messages%slowEvery == 0 {
		if err := f.w.pressure.waitFull(ctx, store.RangePartition); err != nil {
			return err
		}
	}
	return f.RowFunction.OnMessage(ctx, rt, m, out)
}

func (f *watchedFunction) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	if v.Pass != f.pass || v.Final != f.final {
		f.pass, f.final = v.Pass, v.Final
		if v.Final && f.w.atFinal {
			f.w.wake()
		}
		f.w.reporter.say("%s %d", map[bool]string{false: "pass", true: "final pass"}[v.Final], v.Pass)
	}
	return f.visits.OnVisit(ctx, rt, v, out)
}

// watchedSink says when it writes, and may be slow.
type watchedSink struct {
	connector.Sink
	w    *wrappers
	name string
}

func (s *watchedSink) Open(ctx context.Context, position []byte) (connector.Writer, []byte, error) {
	s.w.reporter.say("before open of %s", s.name)
	real, start, err := s.Sink.Open(ctx, position)
	s.w.reporter.say("after open of %s", s.name)
	return &watchedWriter{real, s}, start, err
}

type watchedWriter struct {
	connector.Writer
	sink *watchedSink
}

func (w *watchedWriter) Write(ctx context.Context, messages []flow.Message) ([]byte, error) {
	s := w.sink
	if s.w.slow == "sink" {
		if err := s.w.pressure.waitFull(ctx, store.SinkPartition); err != nil {
			return nil, err
		}
	}
	s.w.reporter.say("before write of %s", s.name)
	position, err := w.Writer.Write(ctx, messages)
	s.w.reporter.say("after write of %s", s.name)
	return position, err
}
