package spec

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rondo-flow/rondo/yson"
)

// rulesBase is valid. The scripts in testdata/rules change one thing in it.
const rulesBase = `{
spec = {
  streams = {
    in = {schema = [{name = k; type = string}; {name = id; type = uint64; required = %true}; {name = maybe; type = uint64}; {name = d; type = double}]};
    mid = {schema = [{name = k; type = string}]};
    out = {schema = [{name = k; type = string}]}};
  computations = {
    reader = {computation_class_name = source_passthrough; output_stream_ids = [in]; source_streams = {s = {source_class_name = file}}};
    mapper = {computation_class_name = transform; processing_function = f; input_stream_ids = [in]; output_stream_ids = [mid];
      group_by_schema = [{name = hash; type = uint64; required = %true; expression = "farm_hash(k)"}; {name = k; type = string}]};
    worker = {computation_class_name = transform; processing_function = f; input_stream_ids = [mid]; output_stream_ids = [out];
      group_by_schema = [{name = hash; type = uint64; required = %true; expression = "farm_hash(k)"}; {name = k; type = string}];
      key_visitor_streams = {sweep = {}};
      sinks = {file = {sink_class_name = file; input_stream_ids = [out]}}}}};
dynamic_spec = {computations = {worker = {key_visitor_streams = {sweep = {}}}}}}`

// The first words of a path that stand for longer ones.
var rulesPaths = map[string]string{
	"reader": "spec.computations.reader", "mapper": "spec.computations.mapper", "worker": "spec.computations.worker",
	"dynamic": "dynamic_spec.computations.worker", "visit": "dynamic_spec.computations.worker.key_visitor_streams.sweep",
}

// changed returns the base with assignments path=value, one a line; # removes.
func changed(t testing.TB, lines string) *yson.Node {
	root, err := yson.Parse([]byte(rulesBase), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(lines, "\n") {
		path, text, _ := strings.Cut(line, "=")
		first, rest, _ := strings.Cut(path, ".")
		if long, ok := rulesPaths[first]; ok {
			path = long + "." + rest
		}
		value, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		keys, at := strings.Split(path, "."), root
		for _, key := range keys[:len(keys)-1] {
			at = child(at, key)
		}
		put(at, keys[len(keys)-1], value)
	}
	return root
}

// verdict is the problems without places, or the notes, or "accepted". Of the
// future are specifications that use what is not available yet.
func verdict(root *yson.Node, future bool) string {
	c := newChecker("rules.yson", root)
	c.check()
	if !future {
		c.checkAvailable()
	}
	var out strings.Builder
	for _, p := range c.problems {
		fmt.Fprintf(&out, "%s: %s\n", p.Path, p.Message)
	}
	for _, note := range c.spec.Notes {
		fmt.Fprintf(&out, "note: %s\n", note)
	}
	if len(c.problems) == 0 {
		out.WriteString("accepted\n")
	}
	return out.String()
}

// elsewhere are the rules of validation that the scripts do not show: they
// concern what is not available yet, or are kept while the pipeline runs.
var elsewhere = map[int]string{
	7:  "joiners with a key of their own",
	8:  "joiners with a key of their own",
	11: "visitor-driven joiners",
	17: "tables with two writers",
	18: "run time: swift_map emits from a visit (KV-42)",
	19: "run time: an output without a valid parent (KV-41)",
	20: "run time: visitor-driven joiners",
}

// TestRulesOfValidation runs the scripts in testdata/rules: each block is a
// rule, its input what is changed in rulesBase, its answer the verdict. The
// numbered rules are those that the system we follow applies to visit streams
// and what they need.
func TestRulesOfValidation(t *testing.T) {
	if got := verdict(changed(t, "name=rules"), false); got != "accepted\n" {
		t.Fatalf("the base is not valid:\n%s", got)
	}
	shown := map[int]bool{}
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if number, ok := strings.CutPrefix(d.Cmd, "rule-"); ok {
				n, err := strconv.Atoi(number)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				shown[n] = true
			}
			return verdict(changed(t, d.Input), d.HasArg("future"))
		})
	})
	for n := 1; n <= 20; n++ {
		if _, other := elsewhere[n]; shown[n] == other {
			t.Errorf("rule %d is shown: %v, elsewhere: %v", n, shown[n], other)
		}
	}
}

// knownFields are the fields of the system we follow and ours, by where they
// stand.
var knownFields = []struct{ path, names string }{
	{"", "spec dynamic_spec name vanilla cluster_url pipeline_path"},
	{"spec.", "validate_binary_version binary_version validate_binary_checksum binary_checksum computations resources streams"},
	{"spec.streams.in.", "class_name schema migration_function"},
	{"spec.resources.r.", "resource_class_name parameters dependencies required_capabilities preload_required always_on"},
	{"worker.", "computation_class_name processing_function processing_function_parameters group_by_schema experimental_enable_non_uint_key " +
		"input_stream_ids output_stream_ids streams_dependency watermark_strategy required_resource_ids parameters timer_streams key_visitor_streams " +
		"source_streams sinks external_state_managers external_state_joiners state_joiners heavy_hitters pivot_finder input_ordering " +
		"distribution_ordering worker_group allow_timer_self_dependency use_compact_input_messages processing_mode allow_batching_with_relaxed_guarantees"},
	{"worker.parameters.", "processing_mode allow_batching_with_relaxed_guarantees"},
	{"worker.required_resource_ids.r.", "alias worker controller"},
	{"worker.key_visitor_streams.sweep.", "names external_names upstream_streams bucket_count"},
	{"worker.timer_streams.t.", "time_type streams streams_with_delays deduplicate_equal_timestamps"},
	{"worker.source_streams.s.", "source_class_name parameters"},
	{"worker.sinks.file.", "sink_class_name input_stream_ids parameters"},
	{"worker.watermark_strategy.", "event_timestamp_assigner watermark_generator watermark_alignment watermark_percentile"},
	{"worker.watermark_strategy.event_timestamp_assigner.", "column format limit_by_system_timestamp"},
	{"worker.external_state_managers./m.", "external_state_manager_class_name class_name parameters"},
	{"worker.external_state_joiners./j.", "external_state_joiner_class_name class_name client_provider_resource_id client_factory_resource_id join_on auto_preload parameters"},
	{"worker.external_state_joiners./j.join_on.", "key_schema_override key_provider_streams"},
	{"worker.state_joiners./j.", "computation_id state_name join_on auto_preload"},
	{"dynamic_spec.", "target_state computations resources throttlers job_manager message_distributor job_tracker controller_connector singletons " +
		"enable_mermaid_graph_describe flow_view_cache_codec"},
	{"dynamic.", "batch_duration max_rows_per_batch max_bytes_per_batch draining empty_batch_backoff lease_check_period retryable_request tracer parameters " +
		"processing_function_parameters source_streams key_visitor_streams sinks external_state_managers external_state_joiners state_joiners state_manager " +
		"input_store timer_store output_store timer_store_count_limit timer_store_byte_size_limit output_store_count_limit output_store_byte_size_limit " +
		"blocked_time_window input_rows_throttler_id input_bytes_throttler_id input_rows_throttler_class_id input_bytes_throttler_class_id skip_if_expression " +
		"max_epoch_duration inbox_row_limit inbox_byte_limit on_message_error on_timer_error dead_letter_stream " +
		"desired_partition_count min_partition_count max_partition_count auto_partition_count desired_average_partition_messages_per_second " +
		"allowed_partition_count_deviation partition_count_double_delay partition_count_half_delay"},
	{"dynamic.parameters.", "auto_partition_count desired_partition_count min_partition_count max_partition_count sink_channel_multiplier desired_average_partition_cpu_load " +
		"desired_average_partition_memory_used desired_average_partition_messages_per_second desired_average_partition_bytes_per_second " +
		"desired_average_partition_timer_count allowed_partition_count_deviation partition_count_double_delay partition_count_half_delay " +
		"weight_multiplier interrupting_weight_multiplier max_read_window"},
	{"visit.", "period buffer_row_limit max_scan_rows_per_iteration background_fill_period catchup_lag_threshold catchup_speedup_multiplier finite " +
		"full_final_pass final_pass_period max_visits_per_second buffer_byte_limit visit_share on_visit_error enabled"},
	{"dynamic.source_streams.s.", "parameters draining"},
	{"dynamic.sinks.file.", "parameters"},
	{"dynamic.external_state_managers./m.", "parameters"},
	{"dynamic.external_state_joiners./j.", "parameters"},
}

// TestEveryFieldOfTheFollowedSystemIsKnown gives each field some word: it may be
// of the wrong type, and is not an unknown field.
func TestEveryFieldOfTheFollowedSystemIsKnown(t *testing.T) {
	for _, known := range knownFields {
		for name := range strings.FieldsSeq(known.names) {
			got := verdict(changed(t, known.path+name+"=word"), true)
			if strings.Contains(got, name+": unknown field") {
				t.Errorf("%s%s: %s", known.path, name, got)
			}
		}
		if got := verdict(changed(t, known.path+"nonsense=word"), true); !strings.Contains(got, "nonsense: unknown field") {
			t.Errorf("%snonsense is known: %s", known.path, got)
		}
	}
}

// TestOneBoundOfThePartitionsFollowsTheOther gives one that contradicts the
// other's default.
func TestOneBoundOfThePartitionsFollowsTheOther(t *testing.T) {
	for lines, want := range map[string][2]int{
		"dynamic.min_partition_count=30000":                                       {30000, 30000},
		"dynamic.max_partition_count=2":                                           {2, 2},
		"dynamic.parameters={max_partition_count=2}":                              {2, 2},
		"dynamic.min_partition_count=5\ndynamic.max_partition_count=7":            {5, 7},
		"dynamic.min_partition_count=5\ndynamic.parameters.max_partition_count=5": {5, 5},
	} {
		s, err := FromNode("counts.yson", changed(t, lines))
		if err != nil {
			t.Errorf("%s: %v", lines, err)
			continue
		}
		if d := s.Dynamic.Computation("worker"); [2]int{d.MinPartitionCount, d.MaxPartitionCount} != want {
			t.Errorf("%s: %d to %d, want %v", lines, d.MinPartitionCount, d.MaxPartitionCount, want)
		}
	}
}
