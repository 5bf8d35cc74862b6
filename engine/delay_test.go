package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

const delayedSpec = `late = { computation_class_name = source_passthrough; output_stream_ids = [copies]; source_streams = {again = {source_class_name = memory}};
       watermark_strategy = {event_timestamp_assigner = {column = at}; watermark_alignment = {drift_bound = "1h"; read_delays = {rows = "10s"}}} };
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [rows; copies]; output_stream_ids = [pings]; ` + byKey + ` };`

// TestASourceStaysBehindAStream: it takes a batch only when the stream is ahead of all
// of it by the delay, or completed; the status says what it waits for.
func TestASourceStaysBehindAStream(t *testing.T) {
	for name, c := range map[string]struct {
		edit     func(string) string
		taken    uint64 // before the stream is completed
		problems string
	}{
		"a delay": {func(text string) string { return text }, 80, "/read_delays: it has rows up to 1970-01-01T00:01:3"},
		"no delay": { // rows up to 96 s are handed out, but one of 97 s is in a batch with others
			edited(t, `rows = "10s"`, `rows = 0`), 89, "/read_delays: "},
		"nothing to wait for": {edited(t, `read_delays = {rows = "10s"}`, ""), 98, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 5)
				r.gate = make(chan struct{})
				r.functions = map[string]flow.Function{"by_visit": newPinging(false)}
				p, err := r.prepare(c.edit(graphSpec(delayedSpec, "late = {max_rows_per_batch = 10};")))
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(5*time.Second, func() {
					var taken uint64
					for _, s := range p.Status().Partitions {
						if s.Computation == "late" {
							taken += s.Totals.Messages
						}
					}
					if taken != c.taken {
						t.Errorf("%d rows were taken, want %d", taken, c.taken)
					}
					problems := ""
					for _, problem := range p.Problems() {
						problems += problem.Path + ": " + problem.Message + "\n"
					}
					if !strings.Contains(problems, c.problems) {
						t.Errorf("problems: %s", problems)
					}
					close(r.gate)
				})
				if sum, err := p.Run(t.Context(), storetest.NewModel()); err != nil || !sum.Completed || sum.Messages != 200 {
					t.Errorf("%+v, error %v", sum, err)
				}
			})
		})
	}
}
