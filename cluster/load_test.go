package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
)

// made makes the program's source of rows.
func (p *program) made(s connector.Setup) (connector.Source, error) {
	real, err := datagen.NewSource(s)
	return &endingSource{real, p.over}, err
}

// endingSource ends when it is told to.
type endingSource struct {
	connector.Source
	over <-chan struct{}
}

func (s *endingSource) Open(ctx context.Context, partition string, offset []byte) (connector.Reader, error) {
	real, err := s.Source.Open(ctx, partition, offset)
	return &endingReader{real, s.over, offset}, err
}

type endingReader struct {
	connector.Reader
	over   <-chan struct{}
	offset []byte // behind what was read
}

func (r *endingReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	select {
	case <-r.over:
		return connector.Batch{Offset: r.offset, End: true}, nil
	default:
	}
	b, err := r.Reader.Read(ctx, limit)
	if err == nil {
		r.offset = b.Offset
	}
	return b, err
}

// TestTheNumberOfPartitionsFollowsTheLoadOfACluster: it grows to what the load needs, as
// far as it may, while two workers run; nothing is lost or repeated on the way.
func TestTheNumberOfPartitionsFollowsTheLoadOfACluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	over := make(chan struct{})
	p := &program{functions: []string{"shout"}, over: over}
	job := strings.Replace(fmt.Sprintf(own, "datagen", strings.Replace(made, "count = 4000; ", "", 1), ""), "desired_partition_count = 3",
		`auto_partition_count = %true; max_partition_count = 8; desired_average_partition_messages_per_second = 50;
		partition_count_double_delay = "1s"; partition_count_half_delay = "1h"`, 1)
	job = strings.Replace(job, "finite = %true; ", "", 1)
	r.must(r.submit(p, job))
	if n := len(r.owners("shouter")); n != 3 && n != 4 {
		t.Fatalf("it begins with %d partitions", n)
	}
	a, b := r.hire(p), r.hire(p)
	r.await("partitions for the load", func() bool { return len(r.owners("shouter")) == 8 })
	close(over)
	r.must(r.ended(a))
	r.must(r.ended(b))
	if n := len(r.owners("shouter")); n != 8 {
		t.Errorf("there are %d partitions at the end", n)
	}
	if read, n := r.read("reader"), r.pulled("out"); n != read {
		t.Errorf("%d rows came out of %d", n, read)
	}
}

// read is how many rows a computation has read.
func (r *rig) read(computation string) (n uint64) {
	r.t.Helper()
	parts, err := r.look.Partitions(r.t.Context())
	r.must(err)
	totals, err := r.look.Totals(r.t.Context())
	r.must(err)
	for _, p := range parts {
		for _, of := range totals {
			if of.Partition == p.ID && p.Computation == computation {
				n += of.Totals.Messages
			}
		}
	}
	return n
}
