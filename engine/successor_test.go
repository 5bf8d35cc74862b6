package engine

import (
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// TestRowsAreCutAtNewBounds: through any series of layouts, every message that is
// not consumed comes to the owner of its key, as it was, once, and the messages of
// a key stay in their order (D-8, D-13).
func TestRowsAreCutAtNewBounds(t *testing.T) {
	s := wireSchema(t)
	n := &node{id: "c", key: keySchema(t)}
	d := decoder{schemas: map[string]*schema.Schema{"a": s}, key: n.key}
	rapid.Check(t, func(t *rapid.T) {
		want := map[uint32]uint64{} // hash by index
		f := &store.Former{Jobs: []store.Job{{Partition: store.Partition{Computation: "c", Open: true}}}}
		next := uint32(0)
		for i := range rapid.IntRange(1, 4).Draw(t, "rows") {
			var box outbox
			for range rapid.IntRange(1, 8).Draw(t, "messages") {
				hash := rapid.Uint64().Draw(t, "hash")
				box.add(&wireMessage{
					stream: wireStream{0, "a"}, index: next, event: int64(next) * 5, system: 3,
					key: schema.AppendHash(nil, hash), row: schema.Row{schema.String("x"), schema.Int64(int64(next))},
				})
				want[next] = hash
				next++
			}
			row := store.InboxRow{InboxKey: store.InboxKey{Producer: 9, Generation: 1, Number: uint64(i + 1)}, Count: box.count, Payload: box.payload(7, 3)}
			row.Consumed = rapid.IntRange(0, row.Count-1).Draw(t, "consumed")
			for j := range row.Consumed {
				delete(want, next-uint32(row.Count)+uint32(j))
			}
			f.Inbox = append(f.Inbox, row)
		}
		for range rapid.IntRange(1, 4).Draw(t, "layouts") {
			f = follow(t, n, f, rapid.IntRange(1, 6).Draw(t, "partitions"))
		}
		got := map[uint32]uint64{}
		for i := range f.Inbox {
			row := &f.Inbox[i]
			messages, err := d.decode(nil, row, 0, row.Count)
			if err != nil {
				t.Fatal(err)
			}
			part := f.Jobs[slices.IndexFunc(f.Jobs, func(j store.Job) bool { return j.Partition.ID == row.Target })].Partition
			last := map[uint64]int64{}
			least := int64(1<<63 - 1)
			for _, m := range messages {
				hash := want[m.ID.Index]
				if !rangeOf(part).Contains(visit.Key{Hash: hash}) || m.Payload.Int64("n") != int64(m.ID.Index) || int64(m.ID.Index) < last[hash] {
					t.Fatalf("message %s of hash %x in partition %+v, after message %d", m.ID, hash, part, last[hash])
				}
				last[hash] = int64(m.ID.Index)
				least = min(least, int64(m.EventTimestamp))
				if _, twice := got[m.ID.Index]; twice {
					t.Fatalf("message %s is there twice", m.ID)
				}
				got[m.ID.Index] = hash
			}
			if row.MinEvent != least {
				t.Fatalf("row %+v says that its least event time is %d, it is %d", row.InboxKey, row.MinEvent, least)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
	})
}

// follow makes what the next layout leaves behind.
func follow(t *rapid.T, n *node, f *store.Former, count int) *store.Former {
	s, err := newSuccessors(n, f, count)
	if err != nil {
		t.Fatal(err)
	}
	out := &store.Former{}
	for i := range s.next {
		part := s.next[i].Partition
		part.ID = store.PartitionID(i + 1)
		out.Jobs = append(out.Jobs, store.Job{Partition: part})
		for _, row := range s.next[i].Inbox {
			row.Target = part.ID
			out.Inbox = append(out.Inbox, row)
		}
	}
	return out
}

func keySchema(t *testing.T) *schema.Schema {
	s, err := schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
