package datagen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/schema"
)

// Class is the name of the source in specs.
const Class = "datagen"

// Register adds the source.
func Register(r *connector.Registry) error { return r.AddSource(Class, NewSource) }

// NewSource is the factory. Its parameters are [Parameters].
func NewSource(setup connector.Setup) (connector.Source, error) {
	var p Parameters
	p.SetDefaults()
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	fillers, err := p.check(setup)
	if err != nil {
		return nil, err
	}
	return &source{p, fillers, p.timesOf(setup.Schema, fillers)}, nil
}

type source struct {
	parameters Parameters
	fillers    []filler // one for each column
	times      []timeOf
}

// Watermarked tells that there is a column of timestamps: then the watermark is the
// least of those of the next row.
func (s *source) Watermarked() bool { return len(s.times) > 0 }

// Partitions returns the numbers of the partitions.
func (s *source) Partitions(context.Context) ([]string, error) {
	var keys []string
	for i := range s.parameters.Partitions {
		keys = append(keys, strconv.Itoa(i))
	}
	return keys, nil
}

// Open starts behind the rows that the offset counts.
func (s *source) Open(_ context.Context, partition string, offset []byte) (connector.Reader, error) {
	p := &s.parameters
	number, err := strconv.Atoi(partition)
	if err != nil || number < 0 || number >= p.Partitions {
		return nil, fmt.Errorf("there is no partition %q: there are %d, from 0 on", partition, p.Partitions)
	}
	m, err := decodeOffset(offset)
	if err != nil {
		return nil, err
	}
	r := &reader{
		fillers: s.fillers, times: s.times, seed: p.Seed, finite: p.Finite,
		first: uint64(number), step: uint64(p.Partitions), count: rowsOf(p, number), done: m.Rows,
		keys: newKeys(p.Keys), pacer: newPacer(p.Rate / float64(p.Partitions)),
	}
	if r.done > r.count {
		return nil, connector.Malformed(fmt.Errorf("%d rows of partition %s were read, and it has %d now: set count back, or start over with an empty data folder", r.done, partition, r.count))
	}
	return r, nil
}

// rowsOf is how many rows a partition has.
func rowsOf(p *Parameters, partition int) uint64 {
	if p.Count == 0 {
		return endless
	}
	rows, partitions := uint64(p.Count), uint64(p.Partitions)
	return (rows + partitions - 1 - uint64(partition)) / partitions
}

// endless is more rows than anybody counts.
const endless = 1 << 62

// offset is the number of rows that were read of a partition.
type offset struct {
	Rows uint64 `json:"rows"`
}

func (o offset) encode() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // a number
	}
	return b
}

func decodeOffset(b []byte) (offset, error) {
	var o offset
	if b == nil {
		return o, nil
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, connector.Malformed(fmt.Errorf("stored position %.100q cannot be read: %w", b, err))
	}
	if o.Rows > endless {
		return o, connector.Malformed(errors.New("stored position is behind every row"))
	}
	return o, nil
}

// reader makes the rows of one partition.
type reader struct {
	fillers []filler
	times   []timeOf
	seed    int64
	finite  bool
	first   uint64 // the number of the partition's first row
	step    uint64 // between the numbers of its rows
	count   uint64 // rows that there are
	done    uint64 // rows that were read
	keys    *keys
	pacer   pacer
}

const (
	// largestBatch bounds what is allocated at once.
	largestBatch = 4096
	// valueSize is the size of a value without text.
	valueSize = 8
)

// Read makes the next rows.
func (r *reader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	if err := ctx.Err(); err != nil {
		return connector.Batch{}, err
	}
	left := r.count - r.done
	if left == 0 && !r.finite {
		<-ctx.Done()
		return connector.Batch{}, ctx.Err()
	}
	var b connector.Batch
	if left > 0 {
		n := int(min(left, uint64(max(1, limit.Rows)), largestBatch))
		n, err := r.pacer.wait(ctx, n)
		if err != nil {
			return b, err
		}
		r.fill(&b, n, limit.Bytes)
	}
	b.End = r.finite && r.done == r.count
	b.Offset = offset{r.done}.encode()
	b.Watermark = r.watermark()
	return b, nil
}

// fill adds up to n rows, fewer if their bytes suffice.
func (r *reader) fill(b *connector.Batch, n, bytes int) {
	width := len(r.fillers)
	values := make([]schema.Value, n*width)
	b.Rows = make([]schema.Row, 0, n)
	for len(b.Rows) < n && (len(b.Rows) == 0 || b.Bytes < bytes) {
		row := schema.Row(values[:width:width])
		values = values[width:]
		b.Bytes += r.fillRow(row)
		b.Rows = append(b.Rows, row)
		r.done++
	}
	r.pacer.took(len(b.Rows))
}

// fillRow makes the next row and returns its size.
func (r *reader) fillRow(to schema.Row) int {
	in := row{number: r.first + r.done*r.step}
	in.random = ofRow(r.seed, in.number)
	in.key = r.keys.draw(&in.random)
	size := 0
	for i, fill := range r.fillers {
		to[i] = fill(&in)
		size += valueSize
		if k := to[i].Kind(); k == schema.KindString || k == schema.KindAny {
			size += len(to[i].AsString())
		}
	}
	return size
}

// Close has nothing to release.
func (r *reader) Close() error { return nil }
