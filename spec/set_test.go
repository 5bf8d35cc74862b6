package spec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rondo-flow/rondo/yson"
)

const settable = `{
spec = {
  streams = {rows = {schema = [{name = key; type = string}]}};
  computations = {
    reader = {computation_class_name = source_passthrough; output_stream_ids = [rows]; source_streams = {s = {source_class_name = file}}};
    "a.b" = {computation_class_name = transform; processing_function = f; input_stream_ids = [rows]; key_visitor_streams = {sweep = {}};
      group_by_schema = [{name = hash; type = uint64; expression = "farm_hash(key)"}; {name = key; type = string}]}}};
dynamic_spec = {computations = {"a.b" = {max_rows_per_batch = 10; key_visitor_streams = {sweep = {period = "2s"}}}}}}`

// TestSet runs the scripts in testdata/set. The input is assignments, one a line;
// out comes the dynamic spec with them, or what is wrong.
func TestSet(t *testing.T) {
	datadriven.Walk(t, "testdata/set", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			root, err := yson.Parse([]byte(settable), yson.YSON)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(d.Input, "\n") {
				if err := Set(root, line); err != nil {
					return fmt.Sprintln("error:", err)
				}
			}
			s, err := FromNode("test.yson", root)
			if err != nil {
				return fmt.Sprintln(err)
			}
			return strings.TrimPrefix(s.DynamicText, `{"computations"=`) + "\n"
		})
	})
}

func TestSetMakesTheDynamicSpecThatIsMissing(t *testing.T) {
	for _, text := range []string{"{}", "{dynamic_spec = #}", "{dynamic_spec = {computations = #}}"} {
		root, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			t.Fatal(err)
		}
		if err := Set(root, "computations.c.batch_duration=3s"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got, want := string(yson.Encode(root)), `{"dynamic_spec"={"computations"={"c"={"batch_duration"="3s"}}}}`; got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// Each line is what a value of the running spec is changed to, and the problem
// that it is refused with: path, message, and what is allowed.
func TestAValueThatIsRefusedIsToldWithPathAndRange(t *testing.T) {
	root, err := yson.Parse([]byte(settable), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	before, err := FromNode("test.yson", root)
	if err != nil {
		t.Fatal(err)
	}
	const stream = `computations."a.b".key_visitor_streams.sweep`
	for _, c := range []struct{ path, value, at, message, allowed string }{
		{stream + ".period", "0s", "dynamic_spec." + stream + ".period", "must be > 0 and <= 36500d, got 0s", "> 0 and <= 36500d"},
		{stream + ".visit_share", "1.5", "dynamic_spec." + stream + ".visit_share", "must be > 0 and <= 1, got 1.5", "> 0 and <= 1"},
		{stream + ".on_visit_error", "retry", "dynamic_spec." + stream + ".on_visit_error", `"retry" is not one of fail, skip`, "one of fail, skip"},
		{stream + ".enabled", "7", "dynamic_spec." + stream + ".enabled", "want a boolean, got an integer 7: write %true or %false", ""},
		{stream + ".perid", "7s", "dynamic_spec." + stream + ".perid", "unknown field: did you mean period?", ""},
		{`computations."a.b".max_rows_per_batch.x`, "1", `computations."a.b".max_rows_per_batch.x`,
			`dynamic_spec.computations."a.b".max_rows_per_batch is an integer and has no x: set it as a whole`, ""},
		{"computations.", "1", "computations.", `a name is missing before ""`, ""},
		{"computations=x", "1", "computations=x", `the path goes on with "=x": separate names by dots, and put quotes around a name with other signs in it`, ""},
		{"spec.streams", "1", "spec.streams", "only parameters of the dynamic spec can be set: change the file", ""},
	} {
		value, err := ParseValue(c.value)
		if err != nil {
			t.Fatal(err)
		}
		_, err = before.With(c.path, value)
		want := yson.Problem{Path: c.at, Message: c.message, Allowed: c.allowed}
		if found, ok := err.(yson.Problems); !ok || len(found) != 1 || found[0] != want {
			t.Errorf("%s = %s: got %#v, want %#v", c.path, c.value, err, want)
		}
	}
}

func TestAChangeLeavesTheSpecItIsMadeFromAlone(t *testing.T) {
	root, err := yson.Parse([]byte(settable), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	before, err := FromNode("test.yson", root)
	if err != nil {
		t.Fatal(err)
	}
	text := before.DynamicText
	after, err := before.With(`computations."a.b".key_visitor_streams.sweep.period`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if before.DynamicText != text {
		t.Errorf("the former spec became %s", before.DynamicText)
	}
	if got, want := after.Dynamic.Computation("a.b").VisitStream("sweep").Period, 24*time.Hour; got != want {
		t.Errorf("without a value the period is %s, want the default %s", got, want)
	}
}
