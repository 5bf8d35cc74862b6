package file

import "io"

// trail remembers the first and the last bytes of what has passed, from which
// marks are made.
type trail struct {
	head, tail []byte
}

const (
	headLength = 4096
	tailLength = 1024
)

// readTrail returns the trail of a file up to a position, which it must reach.
func readTrail(r io.ReaderAt, position int64) (trail, error) {
	t := trail{head: make([]byte, min(headLength, position)), tail: make([]byte, min(tailLength, position))}
	if n, err := r.ReadAt(t.head, 0); n < len(t.head) {
		return trail{}, err
	}
	if n, err := r.ReadAt(t.tail, position-int64(len(t.tail))); n < len(t.tail) {
		return trail{}, err
	}
	return t, nil
}

// pass lets bytes pass.
func pass[T string | []byte](t *trail, b T) {
	if missing := headLength - len(t.head); missing > 0 {
		t.head = append(t.head, b[:min(missing, len(b))]...)
	}
	if len(b) >= tailLength {
		t.tail = append(t.tail[:0], b[len(b)-tailLength:]...)
		return
	}
	t.tail = append(t.tail, b...)
	if extra := len(t.tail) - tailLength; extra > 0 {
		t.tail = t.tail[:copy(t.tail, t.tail[extra:])]
	}
}

// mark returns m with the checksums of the trail.
func (t *trail) mark(m mark) mark {
	m.Head, m.Tail = sum(t.head), sum(t.tail)
	return m
}
