package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestASourceThatIsHeldBackIsNotIdle: whatever it waits for, its watermark stays with
// what it has brought, for longer than makes a source idle (D-17); without rows that
// wait it follows the clock.
func TestASourceThatIsHeldBackIsNotIdle(t *testing.T) {
	const idle = `watermark_generator = {out_of_orderness_bound = 0; idle_partitions = {duration = "2s"; max_ratio = 1}}`
	for name, c := range map[string]struct {
		waits string
		held  bool
	}{
		"alignment":   {`watermark_alignment = {group_name = g; drift_bound = "1s"}`, true},
		"read_delays": {`watermark_alignment = {drift_bound = "1h"; read_delays = {rows = "10s"}}`, true},
		"nothing":     {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 5)
				r.gate = make(chan struct{})
				r.functions = map[string]flow.Function{"by_visit": newPinging(false)}
				text := graphSpec(`late = { computation_class_name = source_passthrough; output_stream_ids = [copies]; source_streams = {again = {source_class_name = memory}};
       watermark_strategy = {event_timestamp_assigner = {column = at}; `+idle+`; `+c.waits+`} };
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [copies]; output_stream_ids = [pings]; `+byKey+` };`,
					"late = {max_rows_per_batch = 10};")
				text = strings.Replace(text, "column = at; format = seconds}", `column = at; format = seconds};
       watermark_generator = {out_of_orderness_bound = "40s"}; watermark_alignment = {group_name = g; drift_bound = "1h"}`, 1)
				p, err := r.prepare(text)
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Minute, func() {
					for _, s := range p.Status().Partitions {
						for _, in := range s.Watermarks {
							if in.Stream == "pings" && (in.Watermark < int64(time.Hour)) != c.held {
								t.Errorf("after a minute %s is at %s", s.Computation, flow.Time(in.Watermark))
							}
						}
					}
					close(r.gate)
				})
				if sum, err := p.Run(t.Context(), storetest.NewModel()); err != nil || !sum.Completed {
					t.Errorf("%+v, error %v", sum, err)
				}
			})
		})
	}
}

// TestOthersWaitForAMemberThatIsHeldBack: of its group, however long that lasts, while
// a member that has nothing is idle soon and they go on.
func TestOthersWaitForAMemberThatIsHeldBack(t *testing.T) {
	const idle = `watermark_generator = {out_of_orderness_bound = 0; idle_partitions = {duration = "2s"; max_ratio = 1}}`
	for name, c := range map[string]struct {
		waits string
		held  bool
	}{
		"by read_delays": {`read_delays = {rows = "10s"}`, true},
		"by nothing":     {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 5)
				r.gate = make(chan struct{})
				r.functions = map[string]flow.Function{"by_visit": newPinging(false)}
				source := func(id, stream, waits string) string {
					return id + ` = { computation_class_name = source_passthrough; output_stream_ids = [` + stream + `]; source_streams = {again = {source_class_name = memory}};
       watermark_strategy = {event_timestamp_assigner = {column = at}; ` + idle + `; watermark_alignment = {group_name = g; drift_bound = "20s"; ` + waits + `}} };`
				}
				text := graphSpec(source("held", "copies", c.waits)+source("ahead", "more", "")+`
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [copies; more]; output_stream_ids = [pings]; `+byKey+` };`,
					"held = {max_rows_per_batch = 5}; ahead = {max_rows_per_batch = 5};")
				text = strings.Replace(text, "copies = {schema", "more = "+rowSchema+"; copies = {schema", 1)
				text = strings.Replace(text, "column = at; format = seconds}", `column = at; format = seconds};
       watermark_generator = {out_of_orderness_bound = "40s"}`, 1)
				p, err := r.prepare(text)
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Minute, func() {
					var taken uint64
					for _, s := range p.Status().Partitions {
						if s.Computation == "ahead" {
							taken += s.Totals.Messages
						}
					}
					if (taken < 80) != c.held {
						t.Errorf("after a minute the source ahead has taken %d rows", taken)
					}
					close(r.gate)
				})
				if sum, err := p.Run(t.Context(), storetest.NewModel()); err != nil || !sum.Completed {
					t.Errorf("%+v, error %v", sum, err)
				}
			})
		})
	}
}
