package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The job with timers: rows of some keys, in the order of their times. Each sets a
// timer by each clock, and a key's first one begins a chain.
const (
	clockRows = 3000
	clockKeys = 60
	perRow    = 3 // by event, system and real time
)

const clocksText = `{ spec = {
  streams = {
    rows = {schema = [{name=key;type=int64;required=%%true}; {name=n;type=int64;required=%%true}; {name=at;type=int64;required=%%true}]};
    ledger = {schema = [{name=what;type=string}; {name=stream;type=string}; {name=key;type=int64}; {name=trigger;type=int64}; {name=nth;type=int64}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {file = {source_class_name = file; parameters = {path = "rows.jsonl"; format = jsonl; finite = %%true}}};
      watermark_strategy = {event_timestamp_assigner = {column = at; format = seconds}} };
    clocks = { computation_class_name = transform; processing_function = ledger;
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=int64}];
      input_stream_ids = [rows]; output_stream_ids = [ledger];
      timer_streams = {event = {}; system = {time_type = system_time}; real = {time_type = real_time}; chain = {}};
      allow_timer_self_dependency = %%true; streams_dependency = {chain = [rows; chain]};
      sinks = {ledger = {sink_class_name = file; input_stream_ids = [ledger]; parameters = {path = "out/ledger.jsonl"; format = jsonl}}} } } };
  dynamic_spec = {computations = {
    reader = {max_rows_per_batch = %[1]d}; clocks = {max_rows_per_batch = %[1]d; desired_partition_count = %[2]d}}} }`

// newClocks makes a job with timers.
func newClocks(t *testing.T, seed uint64, s shape) *job {
	t.Helper()
	j := newJob(t, seed, s)
	var rows strings.Builder
	for n := range clockRows {
		fmt.Fprintf(&rows, `{"key":%d,"n":%d,"at":%d}`+"\n", n*7%clockKeys, n, n/10)
	}
	text := fmt.Sprintf(clocksText, j.shape.rows, j.shape.partitions)
	if err := errors.Join(
		os.WriteFile(filepath.Join(j.dir, "rows.jsonl"), []byte(rows.String()), 0o600),
		os.WriteFile(j.spec, []byte(text), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	j.figures = checkLedger
	return j
}

// auditClocks checks what a killed process left (see audit). An epoch writes as many
// records as timers were set and fired.
func auditClocks(tallies map[string]tally, clocks tally, dataDir string, rows int) error {
	reader, sink := tallies["reader"], tallies["clocks/sinks/ledger"]
	return errors.Join(
		equal("rows read", reader.messages, "rows consumed or waiting", clocks.messages+clocks.waiting),
		auditFile(dataDir, "ledger", sink.messages, max(rows, 1000)),
	)
}

// entry is a line of the ledger.
type entry struct {
	What, Stream string
	Key          int64
	Trigger      int64
	Nth          int
}

// account is what the ledger says of a key and a timer stream.
type account struct {
	stream string
	key    int64
}

// checkLedger demands that each timer that was set has fired once, and those of a
// key in the order of their triggers.
func checkLedger(j *job, s *summary) {
	j.t.Helper()
	text, err := os.ReadFile(filepath.Join(j.data, "out", "ledger.jsonl"))
	if err != nil {
		j.t.Fatal(err)
	}
	set, fired := map[account][]int64{}, map[account][]entry{}
	firings := 0
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			j.t.Fatal(err)
		}
		at := account{e.Stream, e.Key}
		if e.What == "set" {
			set[at] = append(set[at], e.Trigger)
			continue
		}
		fired[at] = append(fired[at], e)
		firings++
	}
	byStream := map[string]int{}
	for at, triggers := range set {
		byStream[at.stream] += len(triggers)
		slices.Sort(triggers)
		if err := matches(slices.Compact(triggers), fired[at]); err != nil {
			j.t.Fatalf("timers of %s and key %d: %v", at.stream, at.key, err)
		}
	}
	keys := len(set) / 4
	if keys != clockKeys || firings != perRow*clockRows+keys*links || byStream["chain"] != keys*links {
		j.t.Fatalf("%v timers were set, for %d keys, and %d fired", byStream, keys, firings)
	}
	want := summary{Completed: true, Messages: clockRows, Epochs: s.Epochs, Timers: uint64(firings)}
	if *s != want {
		j.t.Fatalf("the summary is %+v; by the file it is %+v", *s, want)
	}
}

// matches tells whether the triggers that were set, in order, are those that fired,
// one after the other.
func matches(set []int64, fired []entry) error {
	slices.SortFunc(fired, func(a, b entry) int { return a.Nth - b.Nth })
	for i, e := range fired {
		switch {
		case e.Nth != i:
			return fmt.Errorf("a firing counts %d before it, and there were %d", e.Nth, i)
		case i >= len(set) || e.Trigger != set[i]: // one that was set twice is there once
			return fmt.Errorf("firing %d is that of trigger %d, which is not the next one that was set", i, e.Trigger)
		}
	}
	if len(fired) != len(set) {
		return fmt.Errorf("%d were set, and %d fired", len(set), len(fired))
	}
	return nil
}

func TestTimersFireOnceAndInOrderThroughKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			t.Parallel()
			killOften(t, func(t *testing.T, seed uint64) *job { return newClocks(t, seed, shape{partitions: n, rows: 100}) }, orders{})
		})
	}
}

// TestTimersFireOnceThroughKillsAroundTheirFiring kills a job before and after the
// commits that fire timers, again and again.
func TestTimersFireOnceThroughKillsAroundTheirFiring(t *testing.T) {
	t.Parallel()
	j := newClocks(t, seed(), shape{partitions: 2, rows: 100})
	for _, point := range []string{
		"^before commit of clocks .* fires takes", "^after commit of clocks .* fires takes",
		"^after generation of clocks", "^before commit of clocks .* fires", "^after commit of clocks .* fires",
		"^before commit of clocks .* fires$", "^after commit of clocks .* fires$",
	} {
		j.killAt(point) // unless all of it is over
	}
	j.complete(orders{})
}

// TestTimersFireOnceAndInOrderThroughKillsWhilePartitionsAreReplaced: timers change
// hands, and their order holds across that too.
func TestTimersFireOnceAndInOrderThroughKillsWhilePartitionsAreReplaced(t *testing.T) {
	t.Parallel()
	killOften(t, func(t *testing.T, seed uint64) *job { return newClocks(t, seed, shape{rows: 100, moving: true}) },
		orders{Relaid: "clocks", Layouts: relaid(), Every: 12})
}

func TestTimersFireOnceAndInOrderThroughRepartitioning(t *testing.T) {
	t.Parallel()
	j := newClocks(t, seed(), shape{rows: 50, moving: true})
	p, changes := j.start(orders{Relaid: "clocks", Layouts: relaid(), Every: 12}), 0
	for line, more := p.next(); more; line, more = p.next() {
		if strings.HasPrefix(line, "layout of ") {
			changes++
		}
	}
	if changes < 3 {
		t.Errorf("the partitions were replaced %d times, want at least 3", changes)
	}
	t.Logf("%d times", changes)
	j.check(p.finish())
}

func TestTimersFireOnceAndInOrderThroughKillsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server, made := newServer(t), 0
	killOften(t, func(t *testing.T, seed uint64) *job {
		made++
		return newClocks(t, seed, shape{rows: 200}).on(server, fmt.Sprintf("clocks_%d", made))
	}, orders{})
}
