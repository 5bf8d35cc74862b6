package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
)

// undoLog remembers what a call may change - states, timers, output, counts - so that a
// call which failed leaves nothing behind (KV-27, D-24). Its slices are used
// again for every call.
type undoLog struct {
	states []stateMark
	cells  []flow.Cell // of all states, one after the other
	counts []store.Count
	timers int
	router routerMark
}

type stateMark struct {
	state *keyState
	cells int
	was   bool // cleared
}

// mark remembers the present state of the keys of a call.
func (u *undoLog) mark(states []*keyState, rt *callRuntime) {
	u.states, u.cells = u.states[:0], u.cells[:0]
	for _, k := range states {
		u.states = append(u.states, stateMark{k, len(k.cells), k.cleared})
		for i := range k.cells {
			u.cells = append(u.cells, *k.cells[i].cell)
		}
	}
	u.counts = append(u.counts[:0], rt.counts...)
	u.timers = len(rt.timers)
	rt.router.mark(&u.router)
}

// undo sets everything back.
func (u *undoLog) undo(rt *callRuntime) {
	cells := u.cells
	for _, m := range u.states {
		for i := range m.cells {
			*m.state.cells[i].cell = cells[i]
		}
		cells = cells[m.cells:]
		clear(m.state.cells[m.cells:])
		m.state.cells, m.state.cleared = m.state.cells[:m.cells], m.was
	}
	rt.counts = append(rt.counts[:0], u.counts...)
	rt.timers = rt.timers[:u.timers]
	rt.router.undo(&u.router)
}

// routerMark is what a router has collected up to some moment.
type routerMark struct {
	boxes     []boxMark
	indexes   []uint32
	maxEvents []int64
	outBytes  int
	appended  int
}

type boxMark struct {
	streams, bytes, count int
	minEvent              int64
}

func (r *router) mark(m *routerMark) {
	m.boxes = m.boxes[:0]
	for _, b := range r.used {
		m.boxes = append(m.boxes, boxMark{len(b.streams), len(b.messages), b.count, b.minEvent})
	}
	m.indexes = append(m.indexes[:0], r.indexes...)
	m.maxEvents = append(m.maxEvents[:0], r.maxEvents...)
	m.outBytes, m.appended = r.outBytes, len(r.appended)
}

func (r *router) undo(m *routerMark) {
	for i, b := range r.used {
		if i >= len(m.boxes) {
			b.reset()
			continue
		}
		was := m.boxes[i]
		b.streams, b.messages = b.streams[:was.streams], b.messages[:was.bytes]
		b.count, b.minEvent = was.count, was.minEvent
	}
	r.used = r.used[:len(m.boxes)]
	copy(r.indexes, m.indexes)
	copy(r.maxEvents, m.maxEvents)
	r.outBytes, r.appended = m.outBytes, r.appended[:m.appended]
}

// attempt runs a call over the states of its keys; if it fails or panics,
// nothing of it remains.
func (p *functionProcessor) attempt(states []*keyState, call func() error) (err error) {
	p.undo.mark(states, &p.rt)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			p.undo.undo(&p.rt)
		}
	}()
	return call()
}

// failures counts the inputs that were skipped, by stream, and names the last
// one.
type failures struct{ streams []failure }

type failure struct {
	path  string
	count int
	last  string
}

// add notes a skipped input; path is where it shows.
func (f *failures) add(path string, err error) {
	for i := range f.streams {
		if f.streams[i].path == path {
			f.streams[i].count++
			f.streams[i].last = err.Error()
			return
		}
	}
	f.streams = append(f.streams, failure{path, 1, err.Error()})
}
