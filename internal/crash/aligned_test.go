package crash

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// alignedJob has a source that is ahead of another by 100 seconds a row, and must not
// be by more than a minute. It has an idle time that its wait outlasts.
const alignedJob = `{ name = aligned; spec = {
  streams = {
    near = {schema = [{name=key;type=string}; {name=at;type=timestamp}]};
    far = {schema = [{name=key;type=string}; {name=at;type=timestamp}]} };
  computations = {
    behind = { computation_class_name = source_passthrough; output_stream_ids = [near];
      source_streams = {made = {source_class_name = datagen; parameters = {
        partitions = 2; count = 4000; finite = %true; rate = 1000; keys = {count = 10}; columns = {at = {kind = timestamp}}}}};
      watermark_strategy = {event_timestamp_assigner = {column = at}; watermark_alignment = {drift_bound = "1m"}};
      sinks = {out = {sink_class_name = queue; input_stream_ids = [near]; parameters = {path = both}}} };
    ahead = { computation_class_name = source_passthrough; output_stream_ids = [far];
      source_streams = {made = {source_class_name = datagen; parameters = {
        partitions = 2; count = 40; finite = %true; keys = {count = 10}; columns = {at = {kind = timestamp; step = "100s"}}}}};
      watermark_strategy = {event_timestamp_assigner = {column = at};
        watermark_generator = {out_of_orderness_bound = 0; idle_partitions = {duration = "1s"; max_ratio = 1}}; watermark_alignment = {drift_bound = "1m"}};
      sinks = {out = {sink_class_name = queue; input_stream_ids = [far]; parameters = {path = far}}} } } };
  dynamic_spec = {computations = {ahead = {max_rows_per_batch = 1}; behind = {max_rows_per_batch = 100}}} }`

// TestAlignedSourcesOfTwoWorkersProceed: each worker has partitions of both, which wait
// for those of the other, and all of them come to their end.
func TestAlignedSourcesOfTwoWorkersProceed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, newServer(t), buildCommand(t), "aligned", alignedJob)
	f.hire()
	f.hire()
	f.await("both workers to have partitions", func(*store.View) bool {
		return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
	})
	f.finish()
	if err := f.look.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"both": 4000, "far": 40} {
		if got := bytes.Count(f.run("queue", "pull", filepath.Join(f.dir, "job.yson"), path, "--store", f.url), []byte("\n")); got != want {
			t.Errorf("the queue %s has %d rows, want %d", path, got, want)
		}
	}
}
