package partition

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// script is the state of one transcript: a machine, and what it was told to do.
type script struct {
	t       *testing.T
	d       *datadriven.TestData
	cfg     Config
	machine *Machine
	now     visit.Instant
	lists   []List
	out     strings.Builder
}

// TestTranscripts replays the stories in testdata/machine.
//
//	init [source=S] [input=S:1,2] [timer=T:watched [clock=real|system] [hold=N]] [visitor=V [buckets=N] [period=D]] [output=O:parents] [rows=N]
//	handover producer=P number=N [prev=N] [gen=G] [count=N] [event=T]  (count=0: no row)
//	    [watermark=T] [max=T] [finished|drained]                       (a report comes along)
//	lost | reports producer=P …                   other ways a report comes
//	read [rows=P:N,…] [part]                      answers the read of the inbox
//	timers [at=T,…] [part] | surveyed [least=T]   answer a read of timers, of key 7
//	source rows=N [end]                           answers the read of the source
//	listed keys=1,2,3 | list-failed               answers the oldest list
//	processed [messages=N] [source=N] [timers=N] [visits=N] [event=T] [target=N]
//	    [set=T,…] [clear=T,…]                     timers of key 7 (their event timestamp is 5 earlier)
//	committed [wrote=1,2] | tick D | drain | block O | unblock | run-now id=N
//
// Each command prints what the machine is ready to do then, and accepts it.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.d = d
			s.out.Reset()
			s.run()
			s.ready()
			return s.out.String()
		})
	})
}

func (s *script) run() {
	switch s.d.Cmd {
	case "init":
		s.init()
	case "handover":
		s.step(Handover{Row: s.row(), Report: s.report()})
	case "lost":
		s.step(HandoverLost{s.reports()})
	case "reports":
		s.step(ReportsRead{s.reports()})
	case "read":
		s.step(InboxRead{Rows: s.stored(), End: !s.d.HasArg("part")})
	case "timers":
		s.step(TimersRead{0, s.timersAt("at"), !s.d.HasArg("part")})
	case "surveyed":
		s.step(TimersSurveyed{Least: int64(s.number("least", 0)), Any: s.d.HasArg("least")})
	case "source":
		s.step(SourceRead{Rows: s.number("rows", 0), End: s.d.HasArg("end")})
	case "listed":
		l := s.oldest()
		s.step(Listed{l.Visitor, l.List.Token, []visit.Answer{{Keys: s.keys("keys")}}})
	case "list-failed":
		l := s.oldest()
		s.step(ListFailed{l.Visitor, l.List.Token, fmt.Errorf("disk on fire")})
	case "processed":
		s.step(s.processed())
	case "committed":
		s.step(Committed{Written: s.written()})
	case "tick":
		s.tick()
	case "drain":
		s.step(Draining{})
	case "run-now":
		s.step(RunNow{Run: visit.Run{ID: uint64(s.number("id", 1))}})
	case "block", "unblock":
		s.step(Blocked{Outputs: slices.Repeat([]bool{s.d.Cmd == "block"}, len(s.cfg.Outputs))})
	default:
		s.t.Fatalf("unknown command %q", s.d.Cmd)
	}
}

func (s *script) step(e Event) {
	s.machine.Step(s.now, e)
	s.machine.Step(s.now, SystemPassed{slices.Repeat([]int64{s.now.Wall}, len(s.cfg.Inputs))})
}

func (s *script) init() {
	part := store.Partition{ID: 9, Computation: "c", Layout: 1, Generation: 5, Open: true}
	s.cfg = Config{Job: &store.Job{Partition: part}, Source: s.text("source"), Params: DefaultParams()}
	s.cfg.Params.MaxRows, s.cfg.Params.HoldTimers = s.number("rows", 10), s.number("hold", 100)
	if in := s.text("input"); in != "" {
		stream, producers, _ := strings.Cut(in, ":")
		s.cfg.Inputs = []Input{{Stream: stream, Producers: ids(producers)}}
	}
	if out := s.text("output"); out != "" {
		stream, parents, _ := strings.Cut(out, ":")
		s.cfg.Outputs = []Output{{stream, strings.Split(parents, ",")}}
	}
	if timer := s.text("timer"); timer != "" {
		stream, watched, _ := strings.Cut(timer, ":")
		clock := map[string]TimerClock{"real": RealClock, "system": SystemClock}[s.text("clock")]
		s.cfg.Timers = []TimerStream{{stream, clock, []Watch{{Stream: watched}}, []string{watched}}}
	}
	if v := s.text("visitor"); v != "" {
		s.cfg.Visitors = []Visitor{s.visitor(v)}
	}
	s.now = visit.Instant{Mono: time.Hour, Wall: int64(1000 * time.Second)}
	s.lists = nil
	s.machine = New(s.cfg, s.now)
}

func (s *script) visitor(stream string) Visitor {
	p := visit.DefaultParams()
	var err error
	if p.Period, err = time.ParseDuration(s.text("period")); err != nil {
		s.t.Fatal(err)
	}
	p.FillPeriod = p.Period / 40
	return Visitor{
		Config: visit.Config{
			Stream: stream, Range: visit.HashRange(0, 100), Buckets: s.number("buckets", 1),
			Generation: 5, Sources: 1,
		},
		Params: p, Upstream: []string{s.cfg.Inputs[0].Stream},
	}
}

func (s *script) tick() {
	d, err := time.ParseDuration(s.d.CmdArgs[0].Key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.now.Mono += d
	s.now.Wall += int64(d)
}

// row is the row of a handover, nil with count=0.
func (s *script) row() *store.InboxRow {
	count := s.number("count", 1)
	if count == 0 {
		return nil
	}
	return &store.InboxRow{
		InboxKey: s.rowKey(s.number("producer", 1), s.number("number", 0)),
		Previous: uint64(s.number("prev", 0)), Count: count, MinEvent: int64(s.number("event", 0)),
		Payload: make([]byte, 10),
	}
}

func (s *script) rowKey(producer, number int) store.InboxKey {
	return store.InboxKey{
		Target: 9, Layout: 1, Producer: store.PartitionID(producer),
		Generation: store.Generation(s.number("gen", 1)), Number: uint64(number),
	}
}

// report is the report that comes along, nil if nothing is said of one.
func (s *script) report() *store.Report {
	r := &store.StreamReport{Stream: s.cfg.Inputs[0].Stream, Watermark: store.NoTime, MaxEvent: store.NoTime}
	said := false
	for _, a := range s.d.CmdArgs {
		switch a.Key {
		case "watermark":
			r.Watermark, said = int64(s.number("watermark", 0)), true
		case "max":
			r.MaxEvent, said = int64(s.number("max", 0)), true
		case "finished":
			r.State, said = store.Finished, true
		case "drained":
			r.State, said = store.Drained, true
		}
	}
	if !said {
		return nil
	}
	out := &store.Report{
		Partition: store.PartitionID(s.number("producer", 1)), Generation: store.Generation(s.number("gen", 1)),
		Layout: 1, Streams: []store.StreamReport{*r},
	}
	if n := s.number("number", 0); n > 0 {
		out.LastRows = []store.LastRow{{Target: 9, Number: uint64(n)}}
	}
	return out
}

func (s *script) reports() []store.Report {
	if r := s.report(); r != nil {
		return []store.Report{*r}
	}
	return nil
}

// stored are the rows of an answer to a read: rows=PRODUCER:NUMBER,…
func (s *script) stored() (out []store.InboxRow) {
	for _, text := range strings.Split(s.text("rows"), ",") {
		var producer, number int
		if _, err := fmt.Sscanf(text, "%d:%d", &producer, &number); err == nil {
			out = append(out, store.InboxRow{
				InboxKey: s.rowKey(producer, number), Count: 1, Payload: make([]byte, 10), MinEvent: int64(s.number("event", 0)),
			})
		}
	}
	return out
}

func (s *script) oldest() List {
	if len(s.lists) == 0 {
		s.t.Fatal("no list is under way")
	}
	l := s.lists[0]
	s.lists = s.lists[1:]
	return l
}

func (s *script) keys(arg string) (out []visit.Found) {
	for _, id := range ids(s.text(arg)) {
		out = append(out, visit.Found{Key: visit.Key{Hash: uint64(id), Bytes: "k"}, Bytes: 10})
	}
	return out
}

func (s *script) timersAt(arg string) (out []store.Timer) {
	for _, at := range ids(s.text(arg)) {
		id := store.TimerID{Key: timerKey(keyOf(7)), Trigger: int64(at), Stream: s.cfg.Timers[0].Stream}
		out = append(out, store.Timer{TimerID: id, Event: int64(at) - 5})
	}
	return out
}

func (s *script) written() (out []visit.Key) {
	for _, f := range s.keys("wrote") {
		out = append(out, f.Key)
	}
	return out
}

func (s *script) processed() Processed {
	p := Processed{Messages: s.number("messages", 0), SourceRows: s.number("source", 0), SourceEvent: store.NoTime}
	if p.SourceRows > 0 {
		p.SourceEvent = int64(s.number("event", 0))
	}
	p.Timers, p.TimersSet = s.number("timers", 0), s.timersAt("set")
	for _, t := range s.timersAt("clear") {
		p.TimersGone = append(p.TimersGone, t.TimerID)
	}
	if len(s.cfg.Visitors) > 0 {
		p.Visits = []visit.Outcome{{Delivered: s.number("visits", 0)}}
	}
	if len(s.cfg.Outputs) > 0 {
		p.MaxEvents = []int64{store.NoTime}
	}
	if target := s.number("target", 0); target > 0 {
		p.Rows = []Produced{{Target: uint64(target), Count: 1, MinEvent: int64(s.number("event", 0))}}
		p.MaxEvents[0] = int64(s.number("event", 0))
	}
	return p
}

func (s *script) text(arg string) (out string) {
	for _, a := range s.d.CmdArgs {
		if a.Key == arg {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func (s *script) number(arg string, missing int) int {
	if text := s.text(arg); text != "" {
		if _, err := fmt.Sscan(text, &missing); err != nil {
			s.t.Fatalf("%s=%s: %v", arg, text, err)
		}
	}
	return missing
}

func ids(text string) (out []store.PartitionID) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '+' }) {
		var id store.PartitionID
		if _, err := fmt.Sscan(part, &id); err == nil {
			out = append(out, id)
		}
	}
	return out
}
