package spec

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/yson"
)

func TestChangesOfARunningSpec(t *testing.T) {
	root, err := yson.Parse([]byte(rulesBase), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	base, err := FromNode("rules.yson", root)
	if err != nil {
		t.Fatal(err)
	}
	const stream = "computations.worker.key_visitor_streams.sweep"
	for _, c := range []struct {
		path, value string
		want        string // in the dynamic spec, or of the error
		fails       bool
	}{
		{path: stream + ".period", value: "5s", want: `"period"="5s"`},
		{path: "dynamic_spec." + stream + ".period", value: "5s", want: `"period"="5s"`},
		{path: stream + ".period", value: "0s", fails: true, want: "dynamic_spec." + stream + ".period: must be > 0 and <= 36500d, got 0s"},
		{path: stream + ".max_visits_per_second", value: "-1", fails: true, want: stream + ".max_visits_per_second: must be > 0"},
		{path: stream + ".enabled", value: "perhaps", fails: true, want: stream + ".enabled: "},
		{path: stream + ".perid", value: "5s", fails: true, want: "unknown field: did you mean period?"},
		{path: stream + ".perid", value: "#", fails: true, want: "unknown field: did you mean period?"},
		{path: "computations.d.max_rows_per_batch", value: "5", fails: true, want: "there is no computation d"},
		{path: "computations.worker.key_visitor_streams.sweeep.period", value: "#", fails: true, want: "did you mean sweep?"},
		{path: stream + ".period=5s", value: "5s", fails: true, want: "the path goes on with"},
		{path: "", value: "5s", fails: true, want: "a name is missing"},
		{path: "spec.streams", value: "5s", fails: true, want: "only parameters of the dynamic spec can be set"},
		{path: stream + ".period.x", value: "5s", fails: true, want: "period"},
	} {
		value, err := ParseValue(c.value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.With(c.path, value)
		if (err != nil) != c.fails {
			t.Errorf("%s=%s: %v", c.path, c.value, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || strings.HasPrefix(err.Error(), "1:") {
				t.Errorf("%s=%s: error %q, want %q", c.path, c.value, err, c.want)
			}
			continue
		}
		if !strings.Contains(got.DynamicText, c.want) {
			t.Errorf("%s=%s gives %s, want %s", c.path, c.value, got.DynamicText, c.want)
		}
		back, err := got.With(c.path, nil)
		if err != nil || strings.Contains(back.DynamicText, c.want) || back.StaticText != base.StaticText {
			t.Errorf("taken back: %v, %+v", err, back)
		}
	}
}
