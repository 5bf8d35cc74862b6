package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// sinkSchemas are the inputs of the sinks of these tests.
func sinkSchemas(t testing.TB) flow.Streams {
	return flow.Streams{
		"flights": flowtest.Schema(t, "carrier string", "delay int64", "ratio double", "more any"),
		"alarms":  flowtest.Schema(t, "carrier string", "code uint64", "delay int64"),
	}
}

func newSink(t testing.TB, params string) (*sink, error) {
	t.Helper()
	s, err := NewSink(connector.Setup{Parameters: parameters(t, params), Streams: sinkSchemas(t)})
	if err != nil {
		return nil, err
	}
	return s.(*sink), nil
}

// attachedSink writes to queue q, which is made with five partitions.
func attachedSink(t testing.TB, params string) *sink {
	t.Helper()
	s, err := newSink(t, `{path=q;partitions=5;`+params+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Attach(t.Context(), storetest.NewModel()); err != nil {
		t.Fatal(err)
	}
	return s
}

// message makes a message of a stream.
func message(t testing.TB, s *sink, stream string, values ...any) flow.Message {
	t.Helper()
	sc := sinkSchemas(t)[stream]
	return flow.Message{
		Meta:    flow.Meta{ID: flow.MessageID{Epoch: 2, Index: 7}, StreamID: stream, SystemTimestamp: 1234},
		Payload: flow.NewPayload(sc, flowtest.Row(t, sc, values...)),
	}
}

func TestASinkAppendsJSONWithTheTimeOfTheEpoch(t *testing.T) {
	for _, tc := range []struct{ params, stream, want string }{
		{"", "flights", `q/4@1234 {"carrier":"DL","delay":-3,"ratio":1.5,"more":null}`},
		{"", "alarms", `q/4@1234 {"carrier":"DL","code":18446744073709551615,"delay":-3}`},
		{"column_filter=[delay;carrier]", "alarms", `q/4@1234 {"delay":-3,"carrier":"DL"}`},
		{"tablet_index_expression=\"delay + 4\"", "flights", `q/1@1234 {"carrier":"DL","delay":-3,"ratio":1.5,"more":null}`},
		{"tablet_index_routing_hash_expression=\"18446744073709551615u\"", "flights", `q/4@1234 {"carrier":"DL","delay":-3,"ratio":1.5,"more":null}`},
		{"tablet_index_routing_hash_expression=\"7u\";tablet_index_routing_hash_policy=modulo", "flights", `q/2@1234 {"carrier":"DL","delay":-3,"ratio":1.5,"more":null}`},
	} {
		s := attachedSink(t, tc.params)
		values := map[string][]any{"flights": {"DL", -3, 1.5, nil}, "alarms": {"DL", uint64(1<<64 - 1), -3}}
		got, err := s.Append(nil, message(t, s, tc.stream, values[tc.stream]...))
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %v, %v", tc.params, got, err)
		}
		if text := fmt.Sprintf("%s/%d@%d %s", got[0].Queue, got[0].Partition, got[0].Time, got[0].Value); text != tc.want {
			t.Errorf("%s: appended %s, want %s", tc.params, text, tc.want)
		}
	}
}

func TestRowsAreDealtOutInTurn(t *testing.T) {
	s := attachedSink(t, "")
	seen := map[int]int{}
	for epoch := range uint64(10) { // epochs of one message too
		m := message(t, s, "flights", "DL", 1, nil, nil)
		m.ID = flow.MessageID{Epoch: epoch}
		got, err := s.Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		seen[got[0].Partition]++
	}
	for p := range 5 {
		if seen[p] != 2 {
			t.Errorf("partition %d got %d of 10 rows: %v", p, seen[p], seen)
		}
	}
}

// The hash is the one that keys have, so that rows of a key range lie in few
// partitions, each with an equal part of the range.
func TestPartitionByFollowsTheHashOfTheColumns(t *testing.T) {
	s := attachedSink(t, "partition_by=[carrier;delay]")
	seen := map[int]bool{}
	for i := range 200 {
		carrier := fmt.Sprint("carrier", i)
		hash, err := schema.FarmHash(schema.String(carrier), schema.Int64(int64(i)))
		if err != nil {
			t.Fatal(err)
		}
		want := int(hash / (1<<64/5 + 1))
		for _, stream := range []string{"flights", "alarms"} {
			m := message(t, s, "flights", carrier, i, nil, nil)
			if stream == "alarms" {
				m = message(t, s, "alarms", carrier, nil, i)
			}
			got, err := s.Append(nil, m)
			if err != nil || got[0].Partition != want {
				t.Fatalf("row %d of %s goes to %d, want %d (%v)", i, stream, got[0].Partition, want, err)
			}
		}
		seen[want] = true
	}
	if len(seen) != 5 {
		t.Errorf("only the partitions %v were chosen", seen)
	}
}

func TestRowsThatCannotBePlacedAreErrors(t *testing.T) {
	s := attachedSink(t, `tablet_index_expression="delay"`)
	for delay, want := range map[any]string{
		5:  "tablet_index_expression gives 5 for the row",
		-1: "tablet_index_expression gives -1 for the row",
	} {
		before := []store.QueueAppend{{Queue: "before"}}
		got, err := s.Append(before, message(t, s, "flights", "DL", delay, nil, nil))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "queue q") || len(got) != 1 {
			t.Errorf("delay %v: %v, %v", delay, got, err)
		}
	}
	s = attachedSink(t, `tablet_index_expression="1 / delay"`)
	if _, err := s.Append(nil, message(t, s, "flights", "DL", 0, nil, nil)); err == nil {
		t.Error("divided by zero")
	}
	m := message(t, s, "flights", "DL", 1, nil, nil)
	m.StreamID = "other"
	if _, err := s.Append(nil, m); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("a foreign stream: %v", err)
	}
}

func TestSinkParametersThatCannotBeAreRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{}`:                                                          "queue_path is missing",
		`{path=""}`:                                                   "p.path: \"\" is no name",
		`{path=q;partitions=0}`:                                       "p.partitions: must be >= 1",
		`{path=q;tablet_count=4097}`:                                  "p.tablet_count: must be >= 1 and <= 4096",
		`{path=q;partition_by=[]}`:                                    "partition_by names no column",
		`{path=q;partition_by=[code]}`:                                `stream flights: partition_by: there is no column "code"`,
		`{path=q;partition_by=[ratio]}`:                               "partition_by: column ratio is double",
		`{path=q;partition_by=[more]}`:                                "partition_by: column more is any",
		`{path=q;column_filter=[code]}`:                               `stream flights: column_filter: there is no column "code"`,
		`{path=q;tablet_index_expression="code"}`:                     `unknown column "code"`,
		`{path=q;tablet_index_expression="carrier"}`:                  "gives string, want an integer",
		`{path=q;tablet_index_routing_hash_expression="1 +"}`:         "tablet_index_routing_hash_expression: expression",
		`{path=q;tablet_index_routing_hash_policy=other}`:             "is not one of range, modulo",
		`{path=q;partition_by=[carrier];tablet_index_expression="1"}`: "p.tablet_index_expression: this is another way to choose the partition",
		`{path=q;tablet_index_routing_hash_expression="1";tablet_index_expression="1"}`:                "another way",
		`{path=q;producer_path="//p";write_flow_queue_meta=%true;partitons=3;require_sync_replica=#;}`: "did you mean partitions?",
	} {
		if _, err := newSink(t, params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", params, err, want)
		}
	}
	if _, err := newSink(t, `{queue_path="//q";producer_path="//p";write_flow_queue_meta=%false;flow_queue_meta_column=m;require_sync_replica=%true;at_most_once_strategy={enabled=%false};update_partition_count_period=60000}`); err != nil {
		t.Errorf("names of the reference system: %v", err)
	}
}

func TestASinkMakesItsQueueOrTakesTheOneThatIsThere(t *testing.T) {
	for _, tc := range []struct {
		params      string
		there, want int // partitions; 0: none, an error
	}{
		{"", 0, 1},
		{"partitions=4", 0, 4},
		{"tablet_count=4", 0, 4},
		{"", 3, 3},
		{"partitions=3", 3, 3},
		{"partitions=4", 3, 0},
	} {
		s := storetest.NewModel()
		if tc.there > 0 {
			if err := s.CreateQueue(t.Context(), "q", tc.there); err != nil {
				t.Fatal(err)
			}
		}
		made, err := newSink(t, `{path=q;`+tc.params+`}`)
		if err != nil {
			t.Fatal(err)
		}
		err = made.Attach(t.Context(), s)
		q, there, _ := find(t.Context(), s, "q")
		switch {
		case tc.want == 0 && (err == nil || !strings.Contains(err.Error(), "queue q has 3 partitions and is to have 4")):
			t.Errorf("%+v: got %v", tc, err)
		case tc.want > 0 && (err != nil || !there || len(q.Partitions) != tc.want || made.partitions != tc.want):
			t.Errorf("%+v: made %+v (%v)", tc, q, err)
		}
	}
}

func TestASinkTellsWhyItsQueueCannotBeMade(t *testing.T) {
	for _, op := range []storetest.Op{storetest.OpQueues, storetest.OpCreateQueue} {
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op == op {
				return storetest.DiskFull()
			}
			return storetest.Fault{}
		})
		made, err := newSink(t, `{path=q}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := made.Attach(t.Context(), s); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "queue q") {
			t.Errorf("%s fails: %v", op, err)
		}
	}
}
