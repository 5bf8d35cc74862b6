package function

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// script runs a rollup in memory. Keys and event timestamps are small numbers:
// the key 7 is [7u "k7"], the instant 7 is seven seconds.
type script struct {
	t        *testing.T
	setup    flow.Setup
	function flow.Function
	rt       *flowtest.Runtime
	pass     uint64
}

func TestRollupTranscript(t *testing.T) {
	datadriven.Walk(t, "testdata/rollup", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(_ *testing.T, td *datadriven.TestData) string {
			return s.run(td)
		})
	})
}

func (s *script) run(td *datadriven.TestData) string {
	switch td.Cmd {
	case "streams":
		s.streams(td)
		return ""
	case "rollup":
		return s.make(td.Input)
	case "messages":
		return s.messages(td)
	case "visit":
		return s.visit(td)
	case "watermark":
		for _, arg := range td.CmdArgs {
			s.rt.SetWatermark(arg.Key, instant(s.t, arg.Vals[0]))
		}
		return ""
	case "epoch":
		if err := s.rt.EndEpoch(); err != nil {
			return fmt.Sprintln("error:", err)
		}
		return ""
	case "count":
		return fmt.Sprintln("evictions", s.rt.Counted("evictions"))
	default:
		td.Fatalf(s.t, "unknown command")
		return ""
	}
}

// streams reads lines such as "in flights: date string, delay int64"; the line
// "key" is the group_by_schema.
func (s *script) streams(td *datadriven.TestData) {
	s.setup = flow.Setup{Computation: "routes", Inputs: flow.Streams{}, Outputs: flow.Streams{}}
	for line := range strings.Lines(td.Input) {
		head, columns, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			td.Fatalf(s.t, "stream %q: want a colon", line)
		}
		sch := flowtest.Schema(s.t, strings.Split(columns, ", ")...)
		role, name, _ := strings.Cut(head, " ")
		switch role {
		case "in":
			s.setup.Inputs[name] = sch
		case "out":
			s.setup.Outputs[name] = sch
		case "key":
			s.setup.Key = sch
		}
	}
}

func (s *script) make(params string) string {
	node, err := yson.Parse([]byte(params), yson.YSON)
	if err != nil {
		s.t.Fatal(err)
	}
	s.setup.Parameters = flow.NewParameters(node, "p")
	if s.function, err = NewRollup(s.setup); err != nil {
		return err.Error() + "\n"
	}
	if s.rt == nil {
		s.rt = flowtest.NewRuntime(s.setup.Outputs)
	}
	return "ok\n"
}

func (s *script) key(n string) flow.Key {
	i, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return flowtest.Key(s.t, s.setup.Key, i, "k"+n)
}

func instant(t *testing.T, seconds string) flow.Time {
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		t.Fatal(err)
	}
	return flow.Time(n * float64(time.Second))
}

// messages sends lines of key, event timestamp and the values of the row.
func (s *script) messages(td *datadriven.TestData) string {
	stream := td.CmdArgs[0].Key
	sch := s.setup.Inputs[stream]
	for line := range strings.Lines(td.Input) {
		words := strings.Fields(line)
		row := make(schema.Row, sch.Len())
		for i, c := range sch.Columns() {
			if words[2+i] == "#" {
				continue
			}
			v, err := c.ParseText(words[2+i])
			if err != nil {
				s.t.Fatal(err)
			}
			row[i] = v
		}
		msg := flowtest.Message(stream, s.key(words[0]), instant(s.t, words[1]), sch, row)
		if err := s.function.(flow.RowFunction).OnMessage(s.t.Context(), s.rt, msg, s.rt); err != nil {
			return fmt.Sprintln("error:", err)
		}
	}
	return ""
}

// visit visits keys and prints what is emitted.
func (s *script) visit(td *datadriven.TestData) string {
	var b strings.Builder
	final := td.HasArg("final")
	before := len(s.rt.Emitted())
	for _, arg := range td.CmdArgs {
		if arg.Key == "final" {
			continue
		}
		s.pass++
		visit := flow.Visit{Key: s.key(arg.Key), Pass: s.pass, Final: final}
		if err := s.function.(flow.RowVisitFunction).OnVisit(s.t.Context(), s.rt, visit, s.rt); err != nil {
			fmt.Fprintln(&b, "error:", err)
		}
	}
	for _, m := range s.rt.Emitted()[before:] {
		fmt.Fprintln(&b, m.StreamID, m.Payload.Row())
	}
	return b.String()
}
