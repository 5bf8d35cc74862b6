package bench

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

var (
	controlWorkers    = flag.Int("control-workers", 50, "how many workers the control benchmarks have")
	controlPartitions = flag.Int("control-partitions", 2000, "how many partitions they have")
)

// controlled is a cluster's store on PostgreSQL, with workers and partitions that are
// given out evenly. The first worker is controller.
type controlled struct {
	bare string // the server without the schema
	s    *pgstore.Store
	ids  []string
	ps   []store.Partition
	term uint64
}

func newControlled(b *testing.B) *controlled {
	b.Helper()
	server, _ := onPostgres(b)
	c := &controlled{bare: server.URL("")}
	_, err := pgstore.MigrateUp(b.Context(), server.URL("control"), pgstore.Options{})
	if err == nil {
		c.s, err = pgstore.Open(b.Context(), server.URL("control"), pgstore.Options{Worker: "w0"})
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.s.Close() })
	for i := range *controlWorkers {
		c.ids = append(c.ids, fmt.Sprint("w", i))
		c.beat(b, i)
	}
	made := make([]store.Partition, *controlPartitions)
	for i := range made {
		made[i] = store.Partition{Computation: fmt.Sprint("c", i%5), Kind: store.RangePartition, Open: true, Layout: 1}
	}
	if c.ps, err = c.s.CreatePartitions(b.Context(), made); err != nil {
		b.Fatal(err)
	}
	c.assign(b, len(c.ps), func(int) string { return "" }, func(i int) string { return c.ids[i%len(c.ids)] })
	return c
}

func (c *controlled) beat(b *testing.B, i int) {
	v, err := c.s.Beat(b.Context(), &store.Beat{Worker: store.Worker{ID: c.ids[i], Info: []byte(`{"host":"worker-of-a-cluster","pid":1}`)}, Lease: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	c.term = v.Lease.Term
}

func (c *controlled) assign(b *testing.B, n int, from, to func(int) string) {
	moves := make([]store.Move, n)
	for i := range moves {
		moves[i] = store.Move{Partition: c.ps[i].ID, From: from(i), To: to(i)}
	}
	if err := c.s.Assign(b.Context(), c.term, moves); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkControl: what the control of a cluster costs the database. The floor is one
// statement that changes a row, in a transaction of its own. For the figures of
// docs/cluster.md:
//
//	go test ./internal/bench -run '^$' -bench Control -control-workers 1000 -control-partitions 100000
func BenchmarkControl(b *testing.B) {
	c := newControlled(b)
	b.Run("floor", func(b *testing.B) { c.floor(b) })
	b.Run("beat", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			c.beat(b, 1+i%(len(c.ids)-1))
		}
	})
	b.Run("beat of the controller", func(b *testing.B) {
		for b.Loop() {
			c.beat(b, 0)
		}
	})
	b.Run("all partitions read", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.s.Partitions(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("a tenth of the partitions moves", func(b *testing.B) {
		n := len(c.ps) / 10
		owner := func(i, shift int) string { return c.ids[(i+shift)%len(c.ids)] }
		shift := 0
		for ; b.Loop(); shift++ {
			c.assign(b, n, func(i int) string { return owner(i, shift) }, func(i int) string { return owner(i, shift+1) })
		}
		c.assign(b, n, func(i int) string { return owner(i, shift) }, func(i int) string { return owner(i, 0) })
	})
}

func (c *controlled) floor(b *testing.B) {
	conn, err := pgx.Connect(b.Context(), c.bare)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(b.Context()))
	if _, err := conn.Exec(b.Context(), "SET search_path TO control"); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := conn.Exec(b.Context(), "UPDATE workers SET seen = clock_timestamp() WHERE id = $1", c.ids[i%len(c.ids)]); err != nil {
			b.Fatal(err)
		}
	}
}
