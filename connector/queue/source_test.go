package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/connectortest"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/storetest"
)

// stores are those that tests of whole queues run on.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	disk, err := pebblestore.Open("data", pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	return map[string]store.Store{"model": storetest.NewModel(), "pebble": disk}
}

func TestQueuesKeepTheContractOfSources(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			if err := s.CreateQueue(t.Context(), "q", 3); err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				push(t, s, 0, fmt.Sprintf(`{"n":%d,"s":"%s"}`, i, strings.Repeat("x", i*i)))
			}
			push(t, s, 2, `{"n":1}`)
			src := attached(t, s, `finite=%true;`)
			rows := connectortest.Source(t, src, src.schema)
			if len(rows["q/0"]) != 40 || len(rows["q/1"]) != 0 || len(rows["q/2"]) != 1 {
				t.Fatalf("rows %v", rows)
			}
			for i, row := range rows["q/0"] {
				if row[0].AsInt64() != int64(i) || len(row[1].AsString()) != i*i {
					t.Errorf("row %d is %v", i, row)
				}
			}
		})
	}
}

func TestRegisteredUnderAllNames(t *testing.T) {
	var r connector.Registry
	if err := Register(&r); err != nil {
		t.Fatal(err)
	}
	sources := []string{"NYT::NFlow::TQueueSource", "TQueueSource", "queue"}
	sinks := []string{"NYT::NFlow::TAsyncQueueSink", "NYT::NFlow::TSyncQueueSink", "TAsyncQueueSink", "TSyncQueueSink", "queue"}
	if !slices.Equal(r.SourceClasses(), sources) || !slices.Equal(r.SinkClasses(), sinks) {
		t.Errorf("sources %q, sinks %q", r.SourceClasses(), r.SinkClasses())
	}
	if Register(&r) == nil {
		t.Error("registered twice")
	}
}

// waiting opens a source that waits at the end of partition 0, and counts the
// reads of the store.
func waiting(t *testing.T, more string) (s *storetest.Model, r connector.Reader, reads *int) {
	s = newQueue(t, 1)
	reads = new(int)
	faults := storetest.NewFaults(s, func(c storetest.Call) storetest.Fault {
		if c.Op == storetest.OpReadQueue {
			*reads++
		}
		return storetest.Fault{}
	})
	r, err := attached(t, faults, more).Open(t.Context(), "q/0", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, r, reads
}

func TestAReaderAtTheEndWaitsWithoutSpinningAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, reads := waiting(t, `poll_interval="1s"`)
		began := time.Now()
		time.AfterFunc(time.Hour, func() { push(t, s, 0, `{"n":1}`) })
		b, err := r.Read(t.Context(), connector.Limit{Rows: 1, Bytes: 1})
		if err != nil || len(b.Rows) != 1 {
			t.Fatalf("batch %+v, %v", b, err)
		}
		if waited := time.Since(began); waited < time.Hour || waited > time.Hour+time.Second {
			t.Errorf("waited %s", waited)
		}
		if *reads < 3600 || *reads > 3620 {
			t.Errorf("%d reads in an hour of 1 s waits", *reads)
		}
		// After rows it looks again at once, and often at first.
		time.AfterFunc(10*time.Millisecond, func() { push(t, s, 0, `{"n":2}`) })
		began = time.Now()
		if _, err := r.Read(t.Context(), connector.Limit{}); err != nil || time.Since(began) > 20*time.Millisecond {
			t.Errorf("woke after %s (%v)", time.Since(began), err)
		}
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, _ := waiting(t, `poll_interval="1h"`)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		began := time.Now()
		if _, err := r.Read(ctx, connector.Limit{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 90*time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestErrorsOfTheStoreComeThrough(t *testing.T) {
	down := false
	s := newQueue(t, 1)
	faults := storetest.NewFaults(s, func(storetest.Call) storetest.Fault {
		if down {
			return storetest.Unavailable()
		}
		return storetest.Fault{}
	})
	src := attached(t, faults, "")
	r, err := src.Open(t.Context(), "q/0", nil)
	if err != nil {
		t.Fatal(err)
	}
	down = true
	_, read := r.Read(t.Context(), connector.Limit{})
	_, open := src.Open(t.Context(), "q/0", nil)
	_, partitions := src.Partitions(t.Context())
	for _, err := range []error{read, open, partitions, src.Attach(t.Context(), faults)} {
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "queue q") {
			t.Errorf("got %v", err)
		}
	}
}

func TestForeignOffsetsAndPartitionsAreRefused(t *testing.T) {
	src := attached(t, newQueue(t, 1), "")
	for _, stored := range []string{"", "\x01", "\x01\x80", "\x01\x02\x03", strings.Repeat("\xff", 11)} {
		if _, err := src.Open(t.Context(), "q/0", []byte(stored)); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("offset %q: %v", stored, err)
		}
		if _, err := src.Position("q/0", []byte(stored), 1); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("position at %q: %v", stored, err)
		}
	}
	for _, key := range []string{"", "q", "q/", "q/x", "q/-1", "r/0", "0"} {
		_, open := src.Open(t.Context(), key, nil)
		_, position := src.Position(key, nil, 0)
		if open == nil || position == nil {
			t.Errorf("partition %q: open %v, position %v", key, open, position)
		}
	}
}

func TestColumnsWithExpressionsAreRefused(t *testing.T) {
	s := flowtest.Schema(t, "n int64")
	s.Columns()[0].Expression = "1"
	_, err := NewSource(connector.Setup{Parameters: parameters(t, "{path=q}"), Schema: s})
	if err == nil || !strings.Contains(err.Error(), "column n of the stream has an expression") {
		t.Errorf("got %v", err)
	}
}

// Paths of the reference system may say a cluster, which means nothing here.
func TestAPathIsAName(t *testing.T) {
	src, err := newSource(t, `{queue_path=<cluster=primary>"//home/project/queue"; consumer_path="<cluster=primary>//home/consumer"}`)
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewModel()
	err = s.CreateQueue(t.Context(), "//home/project/queue", 2)
	keys, err2 := []string(nil), src.Attach(t.Context(), s)
	if err == nil && err2 == nil {
		keys, err = src.Partitions(t.Context())
	}
	p, err3 := src.Position("//home/project/queue/1", nil, 4)
	want := store.QueuePosition{Queue: "//home/project/queue", Consumer: "//home/consumer", Partition: 1, Offset: 4}
	if err != nil || err2 != nil || err3 != nil || len(keys) != 2 || keys[1] != "//home/project/queue/1" || p != want {
		t.Errorf("partitions %q (%v, %v), position %+v (%v)", keys, err, err2, p, err3)
	}
}
