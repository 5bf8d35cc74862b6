package fieldreport

import (
	"context"
	"strconv"
	"sync"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// feed is a source that the test pushes rows into, and that never ends unless
// the test says so. Offsets are row numbers.
type feed struct {
	mu      sync.Mutex
	rows    []schema.Row
	gone    int // rows before those
	changed chan struct{}
}

func newFeed() *feed { return &feed{changed: make(chan struct{})} }

func (f *feed) push(rows ...schema.Row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, rows...)
	f.tell()
}

// forget lets go of the rows that were read.
func (f *feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.rows)
	f.gone, f.rows = f.gone+len(f.rows), nil
}

func (f *feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) Partitions(context.Context) ([]string, error) { return []string{"0"}, nil }

func (f *feed) Open(_ context.Context, _ string, offset []byte) (connector.Reader, error) {
	r := &feedReader{feed: f}
	var err error
	if offset != nil {
		r.at, err = strconv.Atoi(string(offset))
	}
	return r, err
}

type feedReader struct {
	feed *feed
	at   int
}

func (r *feedReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	for {
		b, changed := r.batch(limit.Rows)
		if changed == nil {
			return b, nil
		}
		select {
		case <-ctx.Done():
			return connector.Batch{}, ctx.Err()
		case <-changed:
		}
	}
}

// batch returns what there is, or what tells when there is more.
func (r *feedReader) batch(rows int) (connector.Batch, <-chan struct{}) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	f := r.feed
	to := min(f.gone+len(f.rows), r.at+rows)
	if to == r.at {
		return connector.Batch{}, f.changed
	}
	b := connector.Batch{Rows: f.rows[r.at-f.gone : to-f.gone], Bytes: 32 * (to - r.at)}
	r.at = to
	b.Offset = []byte(strconv.Itoa(to))
	return b, nil
}

func (r *feedReader) Close() error { return nil }

// sink counts what came out by the stamp of the call that emitted it. It may
// take its time.
type sink struct {
	mu      sync.Mutex
	written []uint64
	wait    func(messages int)
}

func (s *sink) Open(_ context.Context, position []byte) (connector.Writer, []byte, error) {
	n := 0
	if position != nil {
		var err error
		if n, err = strconv.Atoi(string(position)); err != nil {
			return nil, nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = s.written[:n]
	return s, []byte(strconv.Itoa(n)), nil
}

func (s *sink) Write(_ context.Context, messages []flow.Message) ([]byte, error) {
	if s.wait != nil {
		s.wait(len(messages))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.written = append(s.written, m.Payload.Uint64("stamp"))
	}
	return []byte(strconv.Itoa(len(s.written))), nil
}

func (s *sink) Close() error { return nil }

// byStamp is what flowtest.Atomic wants.
func (s *sink) byStamp() map[uint64]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[uint64]int{}
	for _, stamp := range s.written {
		out[stamp]++
	}
	return out
}
