package crash

import (
	"context"

	"github.com/rondo-flow/rondo/connector"
)

// watchedSource says what is read, and may stall before the last row.
type watchedSource struct {
	connector.Source
	w *wrappers
}

func (s *watchedSource) Open(ctx context.Context, partition string, offset []byte) (connector.Reader, error) {
	real, err := s.Source.Open(ctx, partition, offset)
	if err != nil {
		return nil, err
	}
	if s.w.gate != nil {
		real = &stallingReader{Reader: real, gate: s.w.gate, reporter: s.w.reporter}
	}
	return &watchedReader{real, s.w.reporter}, nil
}

type watchedReader struct {
	connector.Reader
	reporter *reporter
}

func (r *watchedReader) Read(ctx context.Context, max connector.Limit) (connector.Batch, error) {
	b, err := r.Reader.Read(ctx, max)
	if b.End {
		r.reporter.say("read %d rows and the end", len(b.Rows))
	} else {
		r.reporter.say("read %d rows", len(b.Rows))
	}
	return b, err
}

// stallingReader reads row by row, one row ahead, so that it knows the last one
// before it gives it out.
type stallingReader struct {
	connector.Reader
	gate     <-chan struct{}
	reporter *reporter
	ahead    []connector.Batch // a row each; the end is a batch without
}

func (r *stallingReader) Read(ctx context.Context, max connector.Limit) (connector.Batch, error) {
	var b connector.Batch
	for len(b.Rows) < max.Rows && !b.End {
		if err := r.look(ctx); err != nil {
			return connector.Batch{}, err
		}
		if len(r.ahead) == 2 && r.ahead[1].End {
			if len(b.Rows) > 0 {
				break
			}
			if err := r.stall(ctx); err != nil {
				return connector.Batch{}, err
			}
		}
		row := r.ahead[0]
		r.ahead = r.ahead[1:]
		b = connector.Batch{
			Rows: append(b.Rows, row.Rows...), Bytes: b.Bytes + row.Bytes,
			Offset: row.Offset, End: row.End,
		}
	}
	return b, nil
}

// look reads ahead: two rows, or one and the end, or the end.
func (r *stallingReader) look(ctx context.Context) error {
	for len(r.ahead) < 2 && (len(r.ahead) == 0 || !r.ahead[0].End) {
		b, err := r.Reader.Read(ctx, connector.Limit{Rows: 1, Bytes: 1 << 20})
		if err != nil {
			return err
		}
		r.ahead = append(r.ahead, b)
	}
	return nil
}

// stalled is the line that says that only the last row is left to read.
const stalled = "stalled"

func (r *stallingReader) stall(ctx context.Context) error {
	r.reporter.say(stalled)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.gate:
		return nil
	}
}
