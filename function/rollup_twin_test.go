package function

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// rollupOf returns the rollup with the given parameters over one stream "in",
// and its setup.
func rollupOf(t testing.TB, params string, in, out []string) (*rollup, flow.Setup) {
	t.Helper()
	node, err := yson.Parse([]byte(params), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	setup := flow.Setup{
		Computation: "routes",
		Parameters:  flow.NewParameters(node, "p"),
		Inputs:      flow.Streams{"in": flowtest.Schema(t, in...)},
		Outputs:     flow.Streams{"out": flowtest.Schema(t, out...), "evicted": flowtest.Schema(t, out...)},
		Key:         flowtest.Schema(t, "hash uint64 required", "origin string", "destination string"),
	}
	f, err := NewRollup(setup)
	if err != nil {
		t.Fatal(err)
	}
	return f.(*rollup), setup
}

const everyOp = `{
  aggregates = {n = {op = count}; with = {op = count; column = v}; total = {op = sum; column = v};
    low = {op = min; column = v}; high = {op = max; column = v}; last = {op = last; column = v}};
  on_visit = {emit = out; evict = {idle = "3s"; emit = evicted}}}`

var everyOpColumns = []string{"n int64", "with int64", "total int64", "low int64", "high int64", "last int64", "origin string"}

// twin keeps all messages and computes the aggregates anew for each visit.
type twin map[uint64][]twinMessage

type twinMessage struct {
	at int
	v  *int64
}

func (w twin) record(key uint64, watermark int) string {
	messages := w[key]
	if len(messages) == 0 {
		return "nothing"
	}
	byTime := slices.Clone(messages)
	slices.SortStableFunc(byTime, func(a, b twinMessage) int { return cmp.Compare(a.at, b.at) })
	newest := byTime[len(byTime)-1]
	var values []int64
	total := int64(0)
	for _, m := range messages {
		if m.v != nil {
			values, total = append(values, *m.v), total+*m.v
		}
	}
	row := schema.Row{schema.Int64(int64(len(messages))), schema.Int64(int64(len(values))), schema.Null(), schema.Null(), schema.Null(), schema.Null(), schema.String("DFW")}
	if len(values) > 0 {
		row[2], row[3], row[4] = schema.Int64(total), schema.Int64(slices.Min(values)), schema.Int64(slices.Max(values))
	}
	if newest.v != nil {
		row[5] = schema.Int64(*newest.v)
	}
	if watermark-newest.at > 3 {
		delete(w, key)
		return fmt.Sprint("evicted ", row)
	}
	return fmt.Sprint("out ", row)
}

// TestRollupIsWhatItsMessagesSay compares with the twin through random messages,
// visits, ends of epochs, and failed epochs that are repeated.
func TestRollupIsWhatItsMessagesSay(t *testing.T) {
	r, setup := rollupOf(t, everyOp, []string{"v int64", "x string"}, everyOpColumns)
	key := func(n uint64) flow.Key { return flowtest.Key(t, setup.Key, n, "DFW", "ORD") }
	rapid.Check(t, func(rt *rapid.T) {
		mem, want, watermark := flowtest.NewRuntime(setup.Outputs), twin{}, 0
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			k := rapid.Uint64Range(0, 3).Draw(rt, "key")
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				watermark += rapid.IntRange(0, 3).Draw(rt, "watermark")
				mem.SetWatermark("in", flow.Time(watermark)*flow.Time(time.Second))
			case 1:
				if err := mem.EndEpoch(); err != nil {
					rt.Fatal(err)
				}
			case 2:
				before := len(mem.Emitted())
				if err := r.OnVisit(t.Context(), mem, flow.Visit{Key: key(k)}, mem); err != nil {
					rt.Fatal(err)
				}
				got := "nothing"
				for _, m := range mem.Emitted()[before:] {
					got = fmt.Sprint(m.StreamID, " ", m.Payload.Row())
				}
				if w := want.record(k, watermark); got != w {
					rt.Fatalf("the visit of %d at %d emits %s, want %s", k, watermark, got, w)
				}
			default:
				m := twinMessage{at: watermark + rapid.IntRange(-3, 9).Draw(rt, "at")}
				row := make(schema.Row, 2)
				if rapid.IntRange(0, 3).Draw(rt, "null") > 0 {
					v := rapid.Int64Range(-5, 5).Draw(rt, "v")
					m.v, row[0] = &v, schema.Int64(v)
				}
				msg := flowtest.Message("in", key(k), flow.Time(m.at)*flow.Time(time.Second), setup.Inputs["in"], row)
				if err := r.OnMessage(t.Context(), mem, msg, mem); err != nil {
					rt.Fatal(err)
				}
				want[k] = append(want[k], m)
			}
		}
	})
}

func TestIdleOfExtremeTimes(t *testing.T) {
	r, setup := rollupOf(t, everyOp, []string{"v int64"}, everyOpColumns)
	mem := flowtest.NewRuntime(setup.Outputs)
	const lowest, highest = flow.Time(-1 << 63), flow.Time(1<<63 - 1)
	for _, c := range []struct {
		watermark, latest flow.Time
		want              bool
	}{
		{lowest, lowest, false}, {highest, highest, false}, {lowest, highest, false}, {highest, lowest, true},
		{flow.Time(3 * time.Second), 0, false}, {flow.Time(3*time.Second) + 1, 0, true},
	} {
		mem.SetWatermark("in", c.watermark)
		if got := r.idle(mem, c.latest); got != c.want {
			t.Errorf("watermark %d, latest %d: idle is %v", c.watermark, c.latest, got)
		}
	}
}

func TestAMessageOfAnotherStreamIsAnError(t *testing.T) {
	r, setup := rollupOf(t, everyOp, []string{"v int64"}, everyOpColumns)
	mem := flowtest.NewRuntime(setup.Outputs)
	if err := r.OnMessage(t.Context(), mem, flow.Message{Meta: flow.Meta{StreamID: "other"}}, mem); err == nil {
		t.Error("taken")
	}
}

func TestRegisterAddsAll(t *testing.T) {
	var r flow.Registry
	if err := Register(&r); err != nil {
		t.Fatal(err)
	}
	if names := r.Names(); !slices.Equal(names, []string{"expire", "mirror", "rollup"}) {
		t.Errorf("names %q", names)
	}
}
