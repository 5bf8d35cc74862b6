package spec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// caseSpec is a specification with one computation t, whose fields a case gives
// as lines of YAML. Its input is in, with the column k.
const caseSpec = `spec:
  streams: {in: &s {schema: [{name: k, type: string}]}, out: *s, other: *s}
  computations:
    r: {computation_class_name: source_passthrough, output_stream_ids: [in], source_streams: {f: {source_class_name: file}}}
    t:
`

// hashed are the keys of most cases.
const hashed = "group_by_schema: [{name: hash, type: uint64, expression: farm_hash(k)}, {name: k, type: string}]"

// judge reads a computation, and returns its problems, or the spec. What is
// valid and cannot run yet counts as valid.
func judge(t *testing.T, dynamic string, fields ...string) (*Spec, string) {
	t.Helper()
	text := caseSpec
	for _, f := range fields {
		text += "      " + f + "\n"
	}
	if dynamic != "" {
		text += "dynamic_spec: {computations: {t: {key_visitor_streams: " + dynamic + "}}}\n"
	}
	root, err := yson.Parse([]byte(text), yson.YAML)
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker("case.yaml", root)
	c.check()
	s, err := c.result()
	if err != nil {
		return nil, err.Error()
	}
	return s, ""
}

// rejected wants a problem that holds all the texts.
func rejected(t *testing.T, problems string, texts ...string) {
	t.Helper()
	for line := range strings.Lines(problems) {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(line, text)
		}
		if all {
			return
		}
	}
	t.Errorf("no problem says %q:\n%s", texts, problems)
}

func accepted(t *testing.T, problems string) {
	t.Helper()
	if problems != "" {
		t.Errorf("it is rejected:\n%s", problems)
	}
}

const (
	transform = "computation_class_name: transform"
	swiftMap  = "computation_class_name: swift_map"
	function  = "processing_function: f"
	reads     = "input_stream_ids: [in]"
	visits    = "key_visitor_streams: {visits: {}}"
	sink      = "sinks: {s: {sink_class_name: file, input_stream_ids: [out]}}"
)

func TestVisitStreamCases(t *testing.T) {
	t.Run("VAL-01 the first group-by column must be uint64", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, visits, "group_by_schema: [{name: k, type: string}]")
		rejected(t, problems, "computations.t.group_by_schema[0]", "must be uint64")
		_, problems = judge(t, "", transform, function, reads, visits, hashed)
		accepted(t, problems)
	})
	t.Run("VAL-03 explicit wiring is kept", func(t *testing.T) {
		s, problems := judge(t, "", transform, function, reads, hashed, sink, "output_stream_ids: [out]",
			"key_visitor_streams: {visit_iter: {}}", "streams_dependency: {out: [visit_iter]}")
		accepted(t, problems)
		if got := fmt.Sprint(s.Pipeline.Computations["t"].Dependencies["out"]); got != "[visit_iter]" {
			t.Errorf("out depends on %s", got)
		}
	})
	t.Run("VAL-11 the id of a visit stream has no other role", func(t *testing.T) {
		for id, says := range map[string]string{
			"other": "declared in spec.streams",
			"in":    "input_stream_ids",
			"alarm": "timer_streams",
			"out":   "output_stream_ids",
		} {
			_, problems := judge(t, "", transform, function, reads, hashed, sink, "output_stream_ids: [out]",
				"timer_streams: {alarm: {}}", "key_visitor_streams: {"+id+": {}}")
			rejected(t, problems, "key_visitor_streams."+id, says)
		}
	})
	t.Run("VAL-12 a state name begins with a slash", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, hashed, "key_visitor_streams: {visits: {names: [state]}}")
		rejected(t, problems, "key_visitor_streams.visits.names[0]", `"state"`, `begins with "/"`)
	})
	t.Run("VAL-15 static bounds", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, hashed, "key_visitor_streams: {visits: {bucket_count: 0}}")
		rejected(t, problems, "key_visitor_streams.visits.bucket_count", ">= 1", "got 0")
		s, problems := judge(t, "", transform, function, reads, hashed, visits)
		accepted(t, problems)
		if n := s.Pipeline.Computations["t"].VisitStreams["visits"].BucketCount; n != 8 {
			t.Errorf("without it there are %d buckets", n)
		}
	})
	t.Run("NAM-06 an empty list of names is the same as none", func(t *testing.T) {
		s, problems := judge(t, "", transform, function, reads, hashed, "key_visitor_streams: {visits: {names: []}}")
		accepted(t, problems)
		if v := s.Pipeline.Computations["t"].VisitStreams["visits"]; !v.ScansInternal() || len(v.Names) > 0 {
			t.Errorf("it reads %+v", v)
		}
	})
}

func TestJoinerCases(t *testing.T) {
	const joiner = `external_state_joiners: {/source: {class_name: static_table, parameters: {path: t.csv}}}`
	t.Run("VAL-04 a static table is scanned by one visit stream", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, hashed, joiner, "key_visitor_streams: {s1: {external_names: [/source]}, s2: {external_names: [/source]}}")
		rejected(t, problems, "s2.external_names", "/source is scanned by s1 too")
		_, problems = judge(t, "", transform, function, reads, hashed, joiner, "key_visitor_streams: {s1: {external_names: [/source]}, s2: {}}")
		accepted(t, problems)
	})
	t.Run("VAL-09 external names exist", func(t *testing.T) {
		for _, kind := range []string{"external_state_managers", "external_state_joiners"} {
			streams := "key_visitor_streams: {s: {external_names: [/there]}}"
			_, problems := judge(t, "", transform, function, reads, hashed, kind+": {/there: {}}", streams)
			accepted(t, problems)
			_, problems = judge(t, "", transform, function, reads, hashed, kind+": {/other: {}}", streams)
			rejected(t, problems, "key_visitor_streams.s.external_names[0]", "/there is no external state manager or joiner")
		}
	})
	t.Run("a name stands for one table", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, hashed, "external_state_managers: {/x: {}}", "external_state_joiners: {/x: {}}")
		rejected(t, problems, "external_state_joiners./x", "/x is the name of an entry of external_state_managers too")
	})
	t.Run("JN-21 a static table has the key of the computation", func(t *testing.T) {
		_, problems := judge(t, "", transform, function, reads, hashed,
			`external_state_joiners: {/source: {class_name: static_table, join_on: {key_schema_override: [{name: k, type: string}]}}}`)
		rejected(t, problems, "/source.join_on.key_schema_override", "joined by the key of group_by_schema")
	})
}

func TestComputationKindCases(t *testing.T) {
	t.Run("VAL-06 an ordered source has no visit streams", func(t *testing.T) {
		for _, class := range []string{"transform_source", "source"} {
			_, problems := judge(t, "", "computation_class_name: "+class, function, "output_stream_ids: [out]", visits,
				"source_streams: {f: {source_class_name: file}}")
			rejected(t, problems, "key_visitor_streams.visits", class)
		}
	})
	t.Run("VAL-07 outputs of a swift map do not depend on visits", func(t *testing.T) {
		_, problems := judge(t, "", swiftMap, function, reads, hashed, "output_stream_ids: [out]", visits,
			"streams_dependency: {out: [in, visits]}")
		rejected(t, problems, "streams_dependency.out[1]", "visit stream visits")
	})
	t.Run("VAL-08 what else a swift map has and has not", func(t *testing.T) {
		_, problems := judge(t, "", swiftMap, function, hashed, visits)
		rejected(t, problems, "computations.t", "needs an input")
		_, problems = judge(t, "", swiftMap, function, reads, hashed, "source_streams: {f: {source_class_name: file}}")
		rejected(t, problems, "computations.t.source_streams", "no sources")
		_, problems = judge(t, "", swiftMap, function, reads, hashed, sink, "output_stream_ids: [out]")
		rejected(t, problems, "computations.t.sinks", "no sinks")
		_, problems = judge(t, "", swiftMap, function, reads, hashed, visits)
		accepted(t, problems)
	})
	t.Run("VAL-17 a passthrough has no visit streams", func(t *testing.T) {
		for _, class := range []string{"passthrough", "swift_passthrough"} {
			_, problems := judge(t, "", "computation_class_name: "+class, reads, visits, "output_stream_ids: [out]")
			rejected(t, problems, "key_visitor_streams.visits", "no state by key")
		}
	})
}

func TestDynamicVisitCases(t *testing.T) {
	stream := func(t *testing.T, dynamic string) (*DynamicVisitStream, string) {
		s, problems := judge(t, dynamic, transform, function, reads, hashed, visits)
		if s == nil {
			return nil, problems
		}
		return s.Dynamic.Computation("t").VisitStream("visits"), problems
	}
	t.Run("REC-05 defaults of an empty dynamic spec, and bounds", func(t *testing.T) {
		v, problems := stream(t, "{visits: {}}")
		accepted(t, problems)
		if v.Period != 24*time.Hour || v.BufferRowLimit != 5000 || v.MaxScanRowsPerIteration != 10_000 ||
			v.BackgroundFillPeriod != 500*time.Millisecond || v.CatchupLagThreshold != time.Minute ||
			v.CatchupSpeedupMultiplier != 1.2 || !v.Finite || !v.FullFinalPass {
			t.Errorf("the defaults are %+v", v)
		}
		for field, value := range map[string]string{
			"period": "0s", "buffer_row_limit": "0", "max_scan_rows_per_iteration": "0", "background_fill_period": "0s",
			"catchup_lag_threshold": "-1s", "catchup_speedup_multiplier": "1", "final_pass_period": "-1s",
			"max_visits_per_second": "0", "visit_share": "0", "buffer_byte_limit": "-1", "on_visit_error": "retry",
		} {
			_, problems := stream(t, "{visits: {"+field+": "+value+"}}")
			rejected(t, problems, "dynamic_spec.computations.t.key_visitor_streams.visits."+field)
		}
	})
	t.Run("REC-06 without its section a stream has the defaults", func(t *testing.T) {
		v, problems := stream(t, "{visits: {period: 10ms, finite: false}}")
		accepted(t, problems)
		if v.Period != 10*time.Millisecond || v.Finite {
			t.Errorf("what is given counts for nothing: %+v", v)
		}
		v, problems = stream(t, "")
		accepted(t, problems)
		if v.Period != 24*time.Hour || !v.Finite {
			t.Errorf("without the section: %+v", v)
		}
	})
}
