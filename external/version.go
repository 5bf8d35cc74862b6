package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/schema"
)

// version is one version of a table, opened and checked as far as its format
// allows: a text as a whole, Parquet as far as it is read.
type version struct {
	identity Identity
	stamp    stamp
	content  content
	stored   *schema.Table // of a table in the store, which has no content and no file
	keyed    *keyed
	file     file
	opened   time.Duration // when it was
	// users and accepted are guarded by the joiner's lock: the version is closed when
	// users is 0, and accepted when somebody said that its length is right.
	users    int
	accepted bool
}

// source says where a table is and what its rows are.
type source struct {
	disk    disk
	path    string // of a file, or the name in the store
	inStore bool
	groupBy *schema.Schema
	// columns are those of a text that has no .meta file, nil for those that its
	// header names.
	columns *schema.Schema
	read    *atomic.Int64
	stored  Stored // nil before it is open
}

// depth is how much of a table is looked at when it is opened.
type depth bool

const (
	glance depth = false // its columns
	wholly depth = true  // enough to list it: a text is read once
)

// open opens the version that is at the path now.
func (s *source) open(ctx context.Context, d depth) (*version, error) {
	if s.inStore {
		v, err := s.openStored(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.path, err)
		}
		return v, nil
	}
	return s.openFile(ctx, d)
}

// now tells which version is at the path now, without reading it.
func (s *source) now(ctx context.Context) (stamp, error) {
	if !s.inStore {
		return s.disk.stamp(s.path)
	}
	id, _, err := s.find(ctx)
	return stampOfStored(id), err
}

func (s *source) openFile(ctx context.Context, d depth) (*version, error) {
	format, err := FormatOf(s.path)
	if err != nil {
		return nil, err
	}
	f, err := s.disk.open(s.path)
	if err != nil {
		return nil, err
	}
	v := &version{file: f}
	if v.stamp, err = f.stamp(); err == nil {
		src := newBlocks(f, v.stamp.size, s.read)
		if format == FormatParquet {
			err = s.openParquet(v, src)
		} else {
			err = s.openText(ctx, v, src, format, d)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", s.path, errors.Join(s.blame(v, err), f.Close()))
	}
	return v, nil
}

// blame tells a table that is malformed from one that was replaced while it was
// opened: what was read may be parts of both.
func (s *source) blame(v *version, err error) error {
	if !errors.Is(err, ErrMalformed) {
		return err
	}
	if now, e := s.disk.stamp(s.path); e != nil || now != v.stamp {
		return fmt.Errorf("it was replaced while it was opened (%v)", err)
	}
	return err
}

func (s *source) openParquet(v *version, src *blocks) error {
	t, err := openParquet(src, v.stamp.size, s.groupBy.Columns()[0].Name)
	if err != nil {
		return err
	}
	v.content = t
	v.identity = Identity{Rows: t.rows(), Checksum: t.checksum, stamp: v.stamp}
	v.keyed, err = newKeyed(s.groupBy, t.columns)
	return err
}

// summed is a file that is read from its beginning to its end, with the checksum of
// what was read.
type summed struct {
	src io.ReaderAt
	sum interface {
		io.Writer
		Sum64() uint64
	}
	at int64
}

func (s *summed) ReadAt(dst []byte, at int64) (int, error) {
	n, err := s.src.ReadAt(dst, at)
	if at == s.at {
		_, _ = s.sum.Write(dst[:n]) // a checksum takes everything
		s.at += int64(n)
	}
	return n, err
}

func (s *summed) String() string { return fmt.Sprintf("%016x", s.sum.Sum64()) }
