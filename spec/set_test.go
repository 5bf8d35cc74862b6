package spec

import (
	"fmt"
	"strings"
	"testing"

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
