package queue

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parameters parses YSON parameters that stand at "p".
func parameters(t testing.TB, text string) flow.Parameters {
	t.Helper()
	node, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	return flow.NewParameters(node, "p")
}

// newSource makes a source of columns n and s, and does not attach it.
func newSource(t testing.TB, params string) (*source, error) {
	t.Helper()
	src, err := NewSource(connector.Setup{
		Computation: "reader", Name: "queue",
		Parameters: parameters(t, params), Schema: flowtest.Schema(t, "n int64 required", "s string"),
	})
	if err != nil {
		return nil, err
	}
	return src.(*source), nil
}

// attached makes a source of queue q and attaches it.
func attached(t testing.TB, s store.Queues, params string) *source {
	t.Helper()
	src, err := newSource(t, `{path=q;`+params+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Attach(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return src
}

// newQueue returns a store with queue q.
func newQueue(t testing.TB, partitions int) *storetest.Model {
	t.Helper()
	s := storetest.NewModel()
	if err := s.CreateQueue(t.Context(), "q", partitions); err != nil {
		t.Fatal(err)
	}
	return s
}

// push appends values to a partition of q; the i-th one ever has time i.
func push(t testing.TB, s store.Queues, partition int, values ...string) {
	t.Helper()
	qs, err := s.Queues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows []store.QueueAppend
	for i, v := range values {
		at := int64(qs[0].Partitions[partition].Next) + int64(i)
		rows = append(rows, store.QueueAppend{Queue: "q", Partition: partition, Time: at, Value: []byte(v)})
	}
	if err := s.PushQueue(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}
