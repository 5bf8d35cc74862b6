package visit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestTranscripts plays the stories under testdata/visitor. Each command drives
// one Visitor, or the generation after it, and prints what happened, then the
// coverage and what the machine waits for. Rewrite them with -rewrite and read
// the diff.
//
//	init range=[0,100) buckets=2 ...  a new stream; parameters by short names
//	tick 50ms                         both clocks move
//	step -1h                          the wall clock steps
//	list                              begins the list that is offered
//	listed seq=1 generation=1         answers it (or an earlier one); a line of
//	                                  input per source: 7:a 30:b*2 to=40, where
//	                                  *2 is a number of rows
//	list-failed text                  fails it
//	open, visits n, take n failed=1 gone=1, announce, commit   an epoch
//	lost                              the epoch is durable, its job never learns
//	failed, fenced                    the epoch's transaction is refused
//	crash generation=2 buckets=3      the next generation starts
//	repartition [0,50) [50,100) buckets=2   new partitions over what is stored
//	own 1                             the next generation of one of them starts
//	signal [off], drain on|off, touch 7:a, reconfigure period=2s
//	run-now 1 period=5s
//	status, stored
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/visitor", func(t *testing.T, path string) {
		s := &script{rig: &rig{now: Instant{}}}
		datadriven.RunTest(t, path, s.run)
	})
}

// script is the state of one transcript.
type script struct {
	*rig
	pieces []Piece // the partitions that there are
	owned  int     // the one that the rig works on
	out    strings.Builder
}

func (s *script) run(t *testing.T, d *datadriven.TestData) (out string) {
	s.out.Reset()
	defer func() {
		if p := recover(); p != nil {
			out = fmt.Sprintf("%spanic: %v", s.out.String(), p)
		}
	}()
	s.command(t, d)
	s.printf("%s\n%s", s.v.Coverage(), s.next())
	return s.out.String()
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// next says what the machine would do now or waits for.
func (s *script) next() string {
	var parts []string
	if l, ok := s.v.NextList(s.now); ok {
		parts = append(parts, "want list "+l.Range.String())
	} else if at, ok := s.v.WakeAt(s.now); ok {
		parts = append(parts, "wake in "+(at-s.now.Mono).String())
	} else {
		parts = append(parts, "wait")
	}
	if n := s.v.Buffered(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d ready", n))
		if at, ok := s.v.ReadyAt(s.now, 1000); ok && at > s.now.Mono {
			parts = append(parts, "epoch in "+(at-s.now.Mono).String())
		}
	}
	if at, ok := s.v.StoreBy(); ok && at > s.now.Mono {
		parts = append(parts, "store in "+(at-s.now.Mono).String())
	} else if ok {
		parts = append(parts, "store now")
	}
	if s.v.Empty() {
		parts = append(parts, "empty")
	}
	return strings.Join(parts, ", ")
}

func (s *script) command(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "init":
		s.init(t, d)
	case "tick":
		s.tick(duration(t, d))
	case "step":
		s.now.Wall += int64(duration(t, d))
	case "list":
		s.begun()
	case "listed":
		s.listed(t, d)
	case "list-failed":
		s.v.ListFailed(s.now, s.token(t, d), errors.New(d.Input))
	case "touch":
		for _, arg := range d.CmdArgs {
			s.v.Touch(parseKey(t, arg.Key))
		}
	case "status":
		s.printf("%s", s.v.Status(s.now))
	case "stored":
		s.printf("%s", Delta{Record: s.st.Record, Summaries: s.st.Summaries})
		s.printf("buckets %s", s.rows())
	default:
		if !s.epochCommand(t, d) && !s.controlCommand(t, d) {
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
	}
}

func (s *script) epochCommand(t *testing.T, d *datadriven.TestData) bool {
	switch d.Cmd {
	case "open":
		s.v.EpochOpened(s.now)
	case "visits":
		s.show(number(t, d))
	case "take":
		s.take(t, d)
	case "announce":
		s.v.AnnounceWatermark(s.v.Watermark(s.now))
		s.printf("watermark %s", shortTime(s.v.Watermark(s.now)))
	case "commit":
		if !s.v.epoch.open {
			s.v.EpochOpened(s.now)
		}
		delta := s.v.Delta()
		s.printf("%s", delta)
		s.store(delta)
		s.v.EpochCommitted(s.now)
	case "lost":
		s.store(s.v.Delta())
		s.restart(t, d)
	case "crash":
		s.restart(t, d)
	case "failed", "fenced":
		// The store keeps nothing of the epoch, and its job ends either way.
		_ = s.v.Delta()
		s.restart(t, d)
	case "repartition":
		s.repartition(t, d)
	case "own":
		s.own(number(t, d))
	default:
		return false
	}
	return true
}

// repartition replaces all partitions and owns the first of the new ones.
func (s *script) repartition(t *testing.T, d *datadriven.TestData) {
	s.pieces[s.owned].Stored = s.st
	var ranges []Range
	for _, arg := range d.CmdArgs {
		if arg.Key == "buckets" {
			d.ScanArgs(t, "buckets", &s.cfg.Buckets)
		} else {
			ranges = append(ranges, parseRange(t, arg.Key))
		}
	}
	stored, warnings := Repartition(s.pieces, ranges, s.cfg.Buckets)
	for _, w := range warnings {
		s.printf("warning: %s", w)
	}
	s.pieces = nil
	for i, r := range ranges {
		s.pieces = append(s.pieces, Piece{r, stored[i]})
		delta := Delta{Record: stored[i].Record}
		for at := range s.cfg.Buckets {
			if row := stored[i].Buckets[at]; row != nil {
				delta.Buckets = append(delta.Buckets, BucketRow{at, row})
			}
		}
		s.printf("%s: %s", r, strings.ReplaceAll(delta.String(), "\n", "\n  "))
	}
	s.st, s.owned = s.pieces[0].Stored, 0
	s.own(0)
}

// own starts the next generation of one partition.
func (s *script) own(i int) {
	s.pieces[s.owned].Stored = s.st
	s.owned, s.st, s.cfg.Range = i, s.pieces[i].Stored, s.pieces[i].Range
	s.cfg.Generation++
	s.start()
}

func (s *script) controlCommand(t *testing.T, d *datadriven.TestData) bool {
	switch d.Cmd {
	case "signal":
		s.v.UpstreamCompleted(s.now, !d.HasArg("off"))
	case "drain":
		s.v.Drain(s.now, d.HasArg("on"))
	case "reconfigure":
		s.parameters(t, d)
		if err := s.v.Reconfigure(s.now, s.params); err != nil {
			s.printf("refused: %v", err)
		}
	case "run-now":
		run := Run{ID: uint64(number(t, d))}
		if d.HasArg("period") {
			var text string
			d.ScanArgs(t, "period", &text)
			run.Period, _ = time.ParseDuration(text)
		}
		if err := s.v.RunNow(s.now, run); err != nil {
			s.printf("refused: %v", err)
		}
	case "retire":
		s.printf("%s", s.v.Retire())
	default:
		return false
	}
	return true
}

// init starts over; the store is empty.
func (s *script) init(t *testing.T, d *datadriven.TestData) {
	s.rig = &rig{now: Instant{Wall: int64(time.Second)}, params: DefaultParams(), cfg: Config{Stream: "sweep", Range: HashRange(0, 100), Buckets: 1, Generation: 1, Sources: 1}}
	s.params.Period = 10 * time.Second
	s.parameters(t, d)
	s.pieces, s.owned = []Piece{{Range: s.cfg.Range}}, 0
	s.start()
}

// restart starts the next generation on what is stored.
func (s *script) restart(t *testing.T, d *datadriven.TestData) {
	s.cfg.Generation++
	s.parameters(t, d)
	s.start()
	for _, w := range s.v.Warnings() {
		s.printf("warning: %s", w)
	}
}

// parameters reads name=value arguments.
func (s *script) parameters(t *testing.T, d *datadriven.TestData) {
	span := func(at *time.Duration) func(string) error {
		return func(text string) (err error) { *at, err = time.ParseDuration(text); return err }
	}
	count := func(at *int) func(string) error {
		return func(text string) (err error) { *at, err = strconv.Atoi(text); return err }
	}
	flag := func(at *bool) func(string) error {
		return func(text string) (err error) { *at, err = strconv.ParseBool(text); return err }
	}
	set := map[string]func(string) error{
		"range":        func(text string) error { s.cfg.Range = parseRange(t, text); return nil },
		"generation":   func(text string) (err error) { s.cfg.Generation, err = strconv.ParseUint(text, 10, 64); return err },
		"buckets":      count(&s.cfg.Buckets),
		"sources":      count(&s.cfg.Sources),
		"no-upstreams": flag(&s.cfg.NoUpstreams),
		"first-tick":   span(&s.cfg.FirstTick),
		"period":       span(&s.params.Period),
		"final-period": span(&s.params.FinalPassPeriod),
		"fill":         span(&s.params.FillPeriod),
		"cap":          count(&s.params.MaxScanRows),
		"rows":         count(&s.params.BufferRowLimit),
		"bytes":        count(&s.params.BufferByteLimit),
		"finite":       flag(&s.params.Finite),
		"full":         flag(&s.params.FullFinalPass),
		"enabled":      flag(&s.params.Enabled),
		"catch-up": func(text string) (err error) {
			s.params.CatchupLagThreshold, err = time.ParseDuration(text)
			return err
		},
		"per-second": func(text string) (err error) {
			s.params.MaxVisitsPerSecond, err = strconv.ParseFloat(text, 64)
			return err
		},
	}
	for _, arg := range d.CmdArgs {
		take, ok := set[arg.Key]
		if !ok {
			d.Fatalf(t, "unknown parameter %s", arg.Key)
		}
		if err := take(arg.Vals[0]); err != nil {
			d.Fatalf(t, "%s: %v", arg.Key, err)
		}
	}
}

// begun accepts the offered list and prints it.
func (s *script) begun() {
	if l, ok := s.begin(); ok {
		s.printf("%s", l)
	} else {
		s.printf("no list")
	}
}

// token names the list a command speaks of: the last one, unless seq and
// generation say otherwise.
func (s *script) token(t *testing.T, d *datadriven.TestData) Token {
	token := Token{Generation: s.cfg.Generation}
	if len(s.lists) > 0 {
		token = s.lists[len(s.lists)-1].Token
	}
	d.MaybeScanArgs(t, "seq", &token.Seq)
	d.MaybeScanArgs(t, "generation", &token.Generation)
	return token
}

func (s *script) listed(t *testing.T, d *datadriven.TestData) {
	if _, running := s.v.Outstanding(); !running && !d.HasArg("seq") {
		s.begun()
	}
	var answers []Answer
	for line := range strings.Lines(d.Input) {
		answers = append(answers, parseAnswer(t, line))
	}
	for len(answers) < s.cfg.Sources {
		answers = append(answers, Answer{})
	}
	s.v.Listed(s.now, s.token(t, d), answers)
}

// show prints the visits that NextVisits offers.
func (s *script) show(n int) []Visit {
	visits := s.v.NextVisits(s.now, nil, n)
	for _, v := range visits {
		s.printf("%s", v)
	}
	return visits
}

// take handles visits in the open epoch, or opens one.
func (s *script) take(t *testing.T, d *datadriven.TestData) {
	if !s.v.epoch.open {
		s.v.EpochOpened(s.now)
	}
	visits := s.show(number(t, d))
	var o Outcome
	d.MaybeScanArgs(t, "failed", &o.Failed)
	d.MaybeScanArgs(t, "gone", &o.Gone)
	o.Delivered = len(visits) - o.Failed - o.Gone
	s.v.AcceptVisits(s.now, o)
	s.printf("would store %s", strings.ReplaceAll(s.v.Delta().String(), "\n", "\n            "))
}

func duration(t *testing.T, d *datadriven.TestData) time.Duration {
	span, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return span
}

func number(t *testing.T, d *datadriven.TestData) int {
	n, err := strconv.Atoi(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// parseKey reads hash:bytes.
func parseKey(t *testing.T, text string) Key {
	hash, bytes, _ := strings.Cut(text, ":")
	h, err := strconv.ParseUint(hash, 10, 64)
	if err != nil {
		t.Fatalf("key %q: %v", text, err)
	}
	return Key{Hash: h, Bytes: bytes}
}

func parseBound(t *testing.T, text string) Bound {
	if text == "+inf" {
		return Bound{End: true}
	}
	return At(parseKey(t, text))
}

// parseRange reads [lower,upper).
func parseRange(t *testing.T, text string) Range {
	lower, upper, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(text, "["), ")"), ",")
	if !ok {
		t.Fatalf("range %q", text)
	}
	return Range{Lower: parseBound(t, lower), Upper: parseBound(t, upper)}
}

// parseAnswer reads what one source answers.
func parseAnswer(t *testing.T, line string) Answer {
	var a Answer
	for _, word := range strings.Fields(line) {
		if to, ok := strings.CutPrefix(word, "to="); ok {
			bound := parseBound(t, to)
			a.CompleteTo = &bound
			continue
		}
		if word == "-" {
			continue
		}
		text, times, many := strings.Cut(word, "*")
		rows := 1
		if many {
			var err error
			if rows, err = strconv.Atoi(times); err != nil {
				t.Fatalf("rows %q: %v", word, err)
			}
		}
		a.Rows += rows
		a.Bytes += 10 * rows
		a.Keys = append(a.Keys, Found{Key: parseKey(t, text), Rows: rows, Bytes: 10 * rows})
	}
	return a
}
