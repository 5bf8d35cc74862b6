package external

import (
	"context"
	"errors"
	"hash/crc64"
	"io"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

func (s *source) openText(ctx context.Context, v *version, src *blocks, format Format, d depth) error {
	metas, err := readMetas(s.disk, s.path, v.stamp.size)
	if err != nil {
		return err
	}
	if len(metas) == 0 {
		return s.readText(ctx, v, src, format, d, nil)
	}
	for _, m := range metas {
		if e := s.readText(ctx, v, src, format, d, m); !errors.Is(e, ErrMalformed) {
			return e
		} else if err == nil {
			err = e
		}
	}
	return err
}

// readText reads a text that is described by a .meta file, nil for none.
func (s *source) readText(ctx context.Context, v *version, src *blocks, format Format, d depth, m *meta) (err error) {
	sum := &summed{src: src, sum: crc64.New(crc64.MakeTable(crc64.ECMA))}
	t := &text{format: format, src: sum, size: v.stamp.size}
	if t.columns, err = s.textColumns(m, src, format, v.stamp.size); err != nil {
		return err
	}
	if v.keyed, err = newKeyed(s.groupBy, t.columns); err != nil || d == glance {
		return err
	}
	if err := t.build(ctx, v.keyed); err != nil {
		return err
	}
	t.src, v.content = src, t
	v.identity = Identity{Rows: t.rows, stamp: v.stamp}
	if m != nil {
		v.identity.Checksum = sum.String()
		return m.fits(s.path, t.rows, v.stamp.size, sum.String())
	}
	return nil
}

// textColumns returns the columns of a text: those in its .meta file, else those
// that the spec gives, else strings as the header of a CSV names them, but the
// key's.
func (s *source) textColumns(m *meta, src io.ReaderAt, format Format, size int64) (*schema.Schema, error) {
	given := s.columns
	if m != nil {
		given = m.columns
	}
	switch {
	case format == FormatCSV:
		return s.csvColumns(given, src, size)
	case given == nil:
		return nil, unfitf("the types of its columns are not known: add schema to the joiner's parameters, or write it with rondo table sort, which puts a %s file beside it", MetaSuffix)
	default:
		return given, nil
	}
}

// csvColumns returns the columns of a CSV, which its header names too.
func (s *source) csvColumns(given *schema.Schema, src io.ReaderAt, size int64) (*schema.Schema, error) {
	header, err := csvHeader(src, size)
	if err != nil {
		return nil, err
	}
	if given != nil {
		for _, name := range header {
			if _, ok := given.Index(name); !ok {
				return nil, unfitf("%w", wider("its header", name, given))
			}
		}
		for _, c := range given.Columns() {
			if !slices.Contains(header, c.Name) {
				return nil, unfitf("its header has no column %s, which is in its schema: the columns are %s", c.Name, strings.Join(header, ", "))
			}
		}
		return given, nil
	}
	columns := make([]schema.Column, len(header))
	for i, name := range header {
		columns[i] = schema.Column{Name: name, Type: schema.TypeString}
		if at, ok := s.groupBy.Index(name); ok {
			columns[i].Type, columns[i].Required = s.groupBy.Columns()[at].Type, true
		}
	}
	out, err := schema.New(columns)
	if err != nil {
		return nil, malformedf("its header: %w", err)
	}
	return out, nil
}

// csvHeader returns the names in the first line.
func csvHeader(src io.ReaderAt, size int64) ([]string, error) {
	const most = 1 << 20
	data := make([]byte, min(size, most))
	n, err := src.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	names, err := rowtext.CSVHeader(string(data[:n]), ',')
	if err != nil {
		return nil, malformedf("its header: %w", err)
	}
	return names, nil
}
