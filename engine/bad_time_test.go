package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// undated is a rig where a computation between reader and counter takes event times
// from the key, which is no time in 3 of 30 rows.
func undated(t *testing.T, class, dynamic string) *rig {
	r := newRig(t, 0, 0)
	r.partitions = 1
	for i := range 30 {
		key := fmt.Sprintf("2001-01-%02d", 1+i%9)
		if i%10 == 4 {
			key = "soon"
		}
		r.rows[i%2] = append(r.rows[i%2], schema.Row{schema.String(key), schema.Int64(int64(i)), schema.Int64(int64(i))})
	}
	r.functions = map[string]flow.Function{"copy": copying("rows"), "clerk": &clerk{}}
	r.edit = func(text string) string {
		text = relayed(t, "computation_class_name = "+class+"; streams_dependency = {rows = [raw]; dead = [raw]}; "+
			"watermark_strategy = {event_timestamp_assigner = {column = key; format = iso8601}}")(text)
		return edited(t, "output_stream_ids = [rows];\n      group_by", "output_stream_ids = [rows; dead];\n      group_by",
			"streams = {", "streams = {dead = {schema = [{name=reason;type=string}; {name=key;type=string}; {name=value;type=int64}]}; ",
			"computations = {", "computations = {"+clerkSpec,
			"reader = {max", "relay = {desired_partition_count = 1; "+dynamic+"}; reader = {max")(text)
	}
	return r
}

// clerkSpec reads the dead letters.
const clerkSpec = `clerk = { computation_class_name = transform; processing_function = clerk; input_stream_ids = [dead];
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(reason)"}; {name=reason;type=string}] };
    `

// clerk notes the letters.
type clerk struct {
	mu      sync.Mutex
	letters []string
}

func (c *clerk) OnMessage(_ context.Context, _ flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letters = append(c.letters, fmt.Sprint(m.Payload.String("key"), " ", m.Payload.Int64("value"), ": ", m.Payload.String("reason")))
	return nil
}

// checkLetters wants one for each row whose key is no time, which names it and says why.
func (r *rig) checkLetters(why string) {
	r.t.Helper()
	got := r.functions["clerk"].(*clerk).letters
	slices.Sort(got)
	if len(got) != 3 {
		r.t.Fatalf("%d letters: %q", len(got), got)
	}
	for i, value := range []int{14, 24, 4} {
		if !strings.HasPrefix(got[i], fmt.Sprintf("soon %d: ", value)) || !strings.Contains(got[i], why) {
			r.t.Errorf("letter %q", got[i])
		}
	}
}

// TestUnparsableTimes fail the epoch and name the message and the column, are left
// out and counted, or become dead letters (D-24).
func TestUnparsableTimes(t *testing.T) {
	const why = `event timestamp from column key: "soon" is no time as 2006-01-02T15:04:05Z07:00, or 2006-01-02T15:04:05, or 2006-01-02`
	t.Run("fail", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			got := undated(t, "transform; processing_function = copy", "").failure()
			for _, want := range []string{why, "computation relay, partition ", " of stream raw: "} {
				if !strings.Contains(got, want) {
					t.Errorf("it shows %q, want %q", got, want)
				}
			}
		})
	})
	t.Run("skip", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := undated(t, "transform; processing_function = copy", "on_message_error = skip")
			if sum := r.run(storetest.NewModel()); sum.Counts["failed_messages"] != 3 {
				t.Errorf("counts %v, want 3 failed messages", sum.Counts)
			}
			r.dropUndated()
			r.check()
		})
	})
	t.Run("dead letter", func(t *testing.T) { // which has a time all the same
		synctest.Test(t, func(t *testing.T) {
			r := undated(t, "transform; processing_function = copy", "on_message_error = dead_letter; dead_letter_stream = dead")
			if sum := r.run(storetest.NewModel()); sum.Counts["failed_messages"] != 3 {
				t.Errorf("counts %v, want 3 failed messages", sum.Counts)
			}
			r.checkLetters(why)
			r.dropUndated()
			r.check()
		})
	})
}

// TestUnparsableTimesOfASource, where a function has its rows: the same.
func TestUnparsableTimesOfASource(t *testing.T) {
	source := func(t *testing.T, dynamic string) *rig {
		r := undated(t, "", "")
		r.edit = edited(t, "streams = {", "streams = {memory = "+rowSchema+"; dead = {schema = [{name=reason;type=string}; {name=key;type=string}; {name=value;type=int64}]}; ",
			"computations = {", "computations = {"+clerkSpec,
			"source_passthrough; output_stream_ids = [rows]", "source; processing_function = copy; output_stream_ids = [rows; dead]",
			"column = at; format = seconds", "column = key; format = iso8601", "reader = {max", "reader = {"+dynamic+" max")
		return r
	}
	t.Run("fail", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if got := source(t, "").failure(); !strings.Contains(got, "computation reader, partition ") || !strings.Contains(got, `row ["soon", 4, 4]: `) {
				t.Errorf("it shows %q", got)
			}
		})
	})
	for _, policy := range []string{"on_message_error = skip;", "on_message_error = dead_letter; dead_letter_stream = dead;"} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := source(t, policy)
				if sum := r.run(storetest.NewModel()); sum.Counts["failed_messages"] != 3 {
					t.Errorf("counts %v, want 3 failed messages", sum.Counts)
				}
				if strings.Contains(policy, "letter") {
					r.checkLetters(`"soon" is no time as 2006-01-02T15:04:05Z07:00`)
				}
				r.dropUndated()
				r.check()
			})
		})
	}
}

func (r *rig) dropUndated() {
	for i, rows := range r.rows {
		r.rows[i] = nil
		for _, row := range rows {
			if row[0].AsString() != "soon" {
				r.rows[i] = append(r.rows[i], row)
			}
		}
	}
}
