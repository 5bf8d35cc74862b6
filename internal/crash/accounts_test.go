package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
)

// accountant is a ledger that counts rows too, and writes down each row and each
// visit with the count at that moment.
type accountant struct {
	ledger
	rows *flow.State[int64]
}

func newAccountant(s flow.Setup) (flow.Function, error) {
	l, err := newLedger(s)
	if err != nil {
		return nil, err
	}
	return accountant{l.(ledger), flow.NewState("/rows", flow.CBOR[int64]())}, nil
}

func (a accountant) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	state := a.rows.Open(rt, m)
	rows, _, err := state.Get()
	return errors.Join(err, state.Set(rows+1),
		a.write(rt, m, out, "row", "", flow.Time(m.Payload.Int64("n")), rows),
		a.ledger.OnMessage(ctx, rt, m, out))
}

func (a accountant) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	rows, _, err := a.rows.Open(rt, v).Get()
	return errors.Join(err, a.write(rt, v, out, "visit", map[bool]string{true: "final"}[v.Final], flow.Time(v.Pass), rows))
}

// accountsText is a job of rows made up, whose ledger is a file written in parts.
const accountsText = `{ name = accounts; spec = {
  streams = {
    rows = {schema = [{name=key;type=int64;required=%%true}; {name=n;type=int64;required=%%true}; {name=at;type=int64;required=%%true}]};
    ledger = {schema = [{name=what;type=string}; {name=stream;type=string}; {name=key;type=int64}; {name=trigger;type=int64}; {name=nth;type=int64}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {made = {source_class_name = datagen; parameters = {partitions = 4; count = %[1]d; finite = %%true; rate = %[2]d;
        keys = {count = 60}; columns = {key = {kind = key}; n = {kind = sequence}; at = {kind = sequence}}}}};
      watermark_strategy = {event_timestamp_assigner = {column = at; format = seconds}} };
    counter = { computation_class_name = transform; processing_function = accountant;
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=int64}];
      input_stream_ids = [rows]; output_stream_ids = [ledger]; key_visitor_streams = {sweep = {}};
      timer_streams = {event = {}; system = {time_type = system_time}; real = {time_type = real_time}; chain = {}};
      allow_timer_self_dependency = %%true; streams_dependency = {chain = [rows; chain]; ledger = [rows; event; system; real; chain; sweep]};
      sinks = {ledger = {sink_class_name = file; input_stream_ids = [ledger]; parameters = {path = "out/ledger.jsonl"; format = jsonl}}} } } };
  dynamic_spec = {computations = {
    counter = {desired_partition_count = 3; key_visitor_streams = {sweep = {period = "1s"; final_pass_period = "2s"}}}}} }`

// books are what a ledger says of one key.
type books struct {
	rows  int64
	pass  int64
	final bool
	set   map[string][]int64
	fired map[string][]entry
}

// checkAccounts demands of a ledger, in the order in which it was written: each row
// is counted once (COVER, ONCE); what a visit or a row says of the count is what the
// ledger says by then, so that state and output moved together (ATOMIC); no key is
// visited twice in a pass, and all are in the final one; each timer that was set
// has fired once. moving: partitions were replaced, and passes may be left out.
func checkAccounts(text string, rows int, moving bool) error {
	keys, made := map[int64]*books{}, map[int64]bool{}
	for line := range strings.Lines(text) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		b := keys[e.Key]
		if b == nil {
			b = &books{set: map[string][]int64{}, fired: map[string][]entry{}}
			keys[e.Key] = b
		}
		if err := b.enter(&e, moving); err != nil {
			return fmt.Errorf("key %d: %s%w", e.Key, line, err)
		}
		if e.What == "row" && made[e.Trigger] {
			return fmt.Errorf("row %d is counted twice", e.Trigger)
		}
		made[e.Trigger] = made[e.Trigger] || e.What == "row"
	}
	counted := 0
	for _, row := range made {
		if row {
			counted++
		}
	}
	if counted != rows {
		return fmt.Errorf("%d rows are counted, %d were made", counted, rows)
	}
	for key, b := range keys {
		if err := b.close(); err != nil {
			return fmt.Errorf("key %d: %w", key, err)
		}
	}
	return nil
}

func (b *books) enter(e *entry, moving bool) error {
	switch {
	case b.final:
		return errors.New("it comes after the final visit")
	case e.What == "set":
		b.set[e.Stream] = append(b.set[e.Stream], e.Trigger)
	case e.What == "fired":
		b.fired[e.Stream] = append(b.fired[e.Stream], *e)
	case int64(e.Nth) != b.rows:
		return fmt.Errorf("it says %d rows, and there are %d", e.Nth, b.rows)
	case e.What == "row":
		b.rows++
	case e.Trigger <= b.pass, !moving && b.pass != 0 && e.Trigger != b.pass+1:
		return fmt.Errorf("the visit before was in pass %d", b.pass)
	default:
		b.pass, b.final = e.Trigger, e.Stream == "final"
	}
	return nil
}

// close checks what is there in the end. Timers of event time fire in order; those of
// the other clocks are set by this machine's, from which the workers' time differs by
// what they know of the database's.
func (b *books) close() error {
	if !b.final {
		return errors.New("it has no final visit")
	}
	for stream, triggers := range b.set {
		fired := b.fired[stream]
		if stream != "event" && stream != "chain" {
			slices.SortFunc(fired, func(x, y entry) int { return int(x.Trigger - y.Trigger) })
			for i := range fired {
				fired[i].Nth = i
			}
		}
		slices.Sort(triggers)
		if err := matches(slices.Compact(triggers), fired); err != nil {
			return fmt.Errorf("timers of %s: %w", stream, err)
		}
	}
	return nil
}
