package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/schema"
)

// SortOptions say what is sorted, and how.
type SortOptions struct {
	// In is a table in any order, Out the sorted one: Parquet, CSV or JSON Lines, by
	// the ends of their names.
	In, Out string
	// Key lists the columns of the key, such as hash=farm_hash(iata),iata: one with
	// an expression is computed, and is in Out whether or not it is in In.
	Key string
	// Types gives columns of a text another type than the one that is found. A
	// text's .meta file says all of them.
	Types map[string]schema.Type
	// Memory bounds the rows in memory, in bytes, at least MinSortMemory.
	Memory int64
	// Temp is the folder for what does not fit; "" is that of Out.
	Temp string
	// Progress, if given, is told about every 1000 rows how far each half is.
	Progress func(SortProgress)
}

// SortProgress says how far a sort is.
type SortProgress struct {
	Read    int64 // rows
	Written int64 // rows, 0 while they are read
	// Part is how much of the present half is done, from 0 to 1.
	Part float64
}

// SortResult says what a sort came to.
type SortResult struct {
	Rows int64
	// Runs is how many sorted pieces did not fit in memory.
	Runs int
	// Columns are those of the sorted table.
	Columns *schema.Schema
}

// MinSortMemory is the least memory to sort in.
const MinSortMemory = 1 << 20

// Sort sorts a table by its key, in bounded memory: pieces that fit are sorted and
// written down, and then merged. Keys that come twice are an error that names both
// rows; Out is then as it was.
func Sort(ctx context.Context, o SortOptions) (result SortResult, err error) {
	if o.Memory < MinSortMemory {
		return result, fmt.Errorf("%d bytes of memory are too few to sort in: give at least %d", o.Memory, MinSortMemory)
	}
	if _, err := FormatOf(o.Out); err != nil {
		return result, err
	}
	in, err := openInput(ctx, &o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	t, err := newTransform(o.Key, in.columns())
	if err != nil {
		return result, err
	}
	if o.Temp == "" {
		o.Temp = filepath.Dir(o.Out)
	}
	dir, err := os.MkdirTemp(o.Temp, ".rondo-sort-*")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &sorter{options: &o, transform: t, dir: dir, memory: newMemory(o.Memory)}
	if err := s.readAll(ctx, in); err != nil {
		return result, fmt.Errorf("%s: %w", o.In, err)
	}
	if err := s.writeAll(ctx); err != nil {
		return result, err
	}
	return SortResult{Rows: s.read, Runs: s.spilled, Columns: t.out}, nil
}

// sorter is a sort under way.
type sorter struct {
	options   *SortOptions
	transform *transform
	dir       string
	memory    *memory
	runs      []string // files
	made      int
	spilled   int
	read      int64
}

const progressEvery = 1000

// readAll turns the input into sorted runs, the last of which stays in memory.
func (s *sorter) readAll(ctx context.Context, in *input) error {
	for {
		row, at, err := in.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		key, out, err := s.transform.apply(row)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if s.read++; s.read%progressEvery == 0 {
			s.progress(SortProgress{Read: s.read, Part: in.part()})
		}
		if s.memory.add(key, s.read, out) {
			continue
		}
		if err := s.spill(); err != nil {
			return err
		}
		if !s.memory.add(key, s.read, out) {
			return fmt.Errorf("%s takes more memory than there is to sort in: give more with --memory", at)
		}
	}
}

func (s *sorter) progress(p SortProgress) {
	if s.options.Progress != nil {
		s.options.Progress(p)
	}
}

// spill writes what is in memory down as a run.
func (s *sorter) spill() error {
	s.memory.sort()
	w, err := s.newRun()
	if err != nil {
		return err
	}
	s.spilled++
	for i := range s.memory.refs {
		if err := w.write(s.memory.record(i)); err != nil {
			return errors.Join(err, w.file.Close())
		}
	}
	s.memory.reset()
	return w.finish()
}

func (s *sorter) newRun() (*runWriter, error) {
	path := filepath.Join(s.dir, fmt.Sprintf("run-%d", s.made))
	s.made++
	s.runs = append(s.runs, path)
	return newRunWriter(path)
}

// writeAll merges the runs into the table.
func (s *sorter) writeAll(ctx context.Context) (err error) {
	s.memory.sort()
	if len(s.runs) > 0 && len(s.memory.refs) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if err := s.narrow(ctx); err != nil {
		return err
	}
	m, err := s.merged()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	out, err := create(s.options.Out, s.transform.out)
	if err != nil {
		return err
	}
	if err := s.fill(ctx, m, out); err != nil {
		return errors.Join(err, out.abandon())
	}
	return out.finish()
}

// fill writes the rows of a merge, each key once.
func (s *sorter) fill(ctx context.Context, m *merge, out *output) error {
	var row schema.Row
	var last []byte
	var lastNumber int64
	for {
		r, err := m.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if out.count > 0 && string(last) == string(r.key) {
			return fmt.Errorf("rows %d and %d of %s have the same key, %s: keys must be distinct", min(lastNumber, r.number), max(lastNumber, r.number), s.options.In, showKey(string(r.key)))
		}
		last, lastNumber = append(last[:0], r.key...), r.number
		if row, _, err = schema.DecodeRow(r.row, row); err != nil {
			return err
		}
		if err := out.write(row); err != nil {
			return fmt.Errorf("row %d of %s: %w", r.number, s.options.In, err)
		}
		if out.count%progressEvery == 0 {
			s.progress(SortProgress{Read: s.read, Written: out.count, Part: float64(out.count) / float64(s.read)})
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}
