package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/internal/figures"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flights": main})
}

func TestTheProgramGivesTheExactFigures(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			return os.CopyFS(filepath.Join(env.WorkDir, "examples", "flights"), os.DirFS("."))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"figures": checkFigures},
	})
}

func checkFigures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: figures DATADIR")
	}
	ts.Check(figures.Check(ts.MkAbs(args[0]), ts.MkAbs("examples/flights/data/flights-20k.jsonl")))
}

// day is 2001/01/01 plus n days.
func day(n int) flow.Time {
	return flow.Time(time.Date(2001, 1, 1+n, 12, 0, 0, 0, time.UTC).UnixNano())
}

// A function is tested without engine and store: flowtest calls it.
func TestARouteIsEvictedWhenIdleForMoreThan14Days(t *testing.T) {
	flight := flowtest.Schema(t, "date string required", "delay int64 required", "origin string required", "destination string required")
	record := flowtest.Schema(t, "origin string", "destination string", "flights int64", "total_delay int64", "last_flight string", "pass uint64", "final boolean")
	key := flowtest.Key(t, flowtest.Schema(t, "hash uint64 required", "origin string", "destination string"), 7, "DTW", "LAS")
	rt := flowtest.NewRuntime(flow.Streams{"snapshots": record, "evicted": record})
	f := routes{flow.NewState[totals]("/totals", nil)}
	message := func(at flow.Time, delay int) {
		row := flowtest.Row(t, flight, at.Std().Format("2006/01/02 15:04"), delay, "DTW", "LAS")
		if err := f.OnMessage(t.Context(), rt, flowtest.Message("flights", key, at, flight, row), rt); err != nil {
			t.Fatal(err)
		}
	}
	visit := func(watermark flow.Time) string {
		rt.SetWatermark("flights", watermark)
		if err := f.OnVisit(t.Context(), rt, flow.Visit{Key: key, Pass: 3}, rt); err != nil {
			t.Fatal(err)
		}
		out := rt.Emitted()[0]
		if err := rt.EndEpoch(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(out.StreamID, " ", []any{out.Payload.Int64("flights"), out.Payload.Int64("total_delay"), out.Payload.String("last_flight")})
	}

	message(day(5), 66)
	message(day(3), -5) // arrives late, and is not the last flight
	for _, step := range []struct {
		watermark flow.Time
		want      string
	}{
		{day(19), "snapshots [2 61 2001/01/06 12:00]"},
		{day(19) + 1, "evicted [2 61 2001/01/06 12:00]"},
	} {
		if got := visit(step.watermark); got != step.want {
			t.Errorf("at %v: got %s, want %s", step.watermark, got, step.want)
		}
	}
	if rt.Stored("/totals", key) != nil || rt.Counted("evictions") != 1 {
		t.Errorf("after the eviction: state %x, %d evictions counted", rt.Stored("/totals", key), rt.Counted("evictions"))
	}
}
