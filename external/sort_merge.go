package external

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"io"
	"os"
)

// maxRuns is how many runs are merged at once; each has a buffer.
const maxRuns = 64

// narrow merges runs into longer ones until all can be merged at once.
func (s *sorter) narrow(ctx context.Context) error {
	for len(s.runs) > s.fanIn() {
		n := s.fanIn()
		first := s.runs[:n:n]
		s.runs = s.runs[n:]
		if err := s.join(ctx, first); err != nil {
			return err
		}
	}
	return nil
}

// fanIn is how many buffers the memory has room for.
func (s *sorter) fanIn() int { return int(min(maxRuns, max(2, s.options.Memory/4/runBuffer))) }

// join merges runs into one.
func (s *sorter) join(ctx context.Context, runs []string) (err error) {
	m, err := mergeRuns(runs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	w, err := s.newRun()
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		r, err := m.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = w.write(r)
		}
		if err == nil && n%progressEvery == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, w.file.Close())
		}
	}
	for _, path := range runs {
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, w.finish())
}

// merged is what is to be written: the runs, or what is in memory.
func (s *sorter) merged() (*merge, error) {
	if len(s.runs) > 0 {
		s.memory.pieces, s.memory.refs = nil, nil
		return mergeRuns(s.runs)
	}
	m := &merge{}
	return m, m.add(&memoryReader{memory: s.memory})
}

// records are read in order.
type records interface {
	next() (sortRecord, error)
	close() error
}

// memoryReader reads what is in memory.
type memoryReader struct {
	memory *memory
	at     int
}

func (r *memoryReader) next() (sortRecord, error) {
	if r.at == len(r.memory.refs) {
		return sortRecord{}, io.EOF
	}
	r.at++
	return r.memory.record(r.at - 1), nil
}

func (r *memoryReader) close() error { return nil }

// merge returns the records of all inputs in order.
type merge struct {
	heads []head
	last  records // whose head was returned, and is to be replaced
	done  []records
}

type head struct {
	record sortRecord
	from   records
}

func mergeRuns(paths []string) (*merge, error) {
	m := &merge{}
	for _, path := range paths {
		r, err := openRun(path)
		if err == nil {
			err = m.add(r)
		}
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	return m, nil
}

// add takes one more input.
func (m *merge) add(r records) error {
	m.done = append(m.done, r)
	return m.pull(r)
}

// pull puts the next record of an input among the heads.
func (m *merge) pull(r records) error {
	record, err := r.next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	heap.Push(m, head{record, r})
	return nil
}

// next returns the least record, which is good until the next call.
func (m *merge) next() (sortRecord, error) {
	if m.last != nil {
		if err := m.pull(m.last); err != nil {
			return sortRecord{}, err
		}
		m.last = nil
	}
	if len(m.heads) == 0 {
		return sortRecord{}, io.EOF
	}
	h := heap.Pop(m).(head)
	m.last = h.from
	return h.record, nil
}

func (m *merge) close() (err error) {
	for _, r := range m.done {
		err = errors.Join(err, r.close())
	}
	return err
}

// Len, Less, Swap, Push and Pop implement heap.Interface. Equal keys come in the
// order of their rows.
func (m *merge) Len() int { return len(m.heads) }

func (m *merge) Less(i, j int) bool {
	a, b := &m.heads[i].record, &m.heads[j].record
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c < 0
	}
	return a.number < b.number
}

func (m *merge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *merge) Push(h any) { m.heads = append(m.heads, h.(head)) }

func (m *merge) Pop() any {
	n := len(m.heads) - 1
	h := m.heads[n]
	m.heads = m.heads[:n]
	return h
}
