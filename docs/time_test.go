package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/spec"
)

// timed is a pipeline whose source or computation has the fields of a snippet.
const timed = `{spec = {
  streams = {in = {schema = [{name=key;type=string}; {name=at;type=int64;required=%%true}]};
    prices = {schema = [{name=key;type=string}; {name=at;type=int64;required=%%true}]}; out = {schema = [{name=key;type=string}]}};
  computations = {
    other = {computation_class_name = source_passthrough; output_stream_ids = [prices]; source_streams = {file = {source_class_name = file}}};
    reader = {computation_class_name = source_passthrough; output_stream_ids = [in]; source_streams = {file = {source_class_name = file}}; %s};
    waiter = {computation_class_name = transform; processing_function = wait; input_stream_ids = [in]; output_stream_ids = [out];
      group_by_schema = [{name=hash;type=uint64;expression="farm_hash(key)"}; {name=key;type=string}]; %s}}}}`

func TestTheSnippetsOfTimeAreSpecs(t *testing.T) {
	snippets := 0
	for _, b := range blocks(t, "time.md") {
		if b.info == "go" { // see TestTimersOfTwoStreamsAreToldApart
			continue
		}
		if b.info != "yson fields" {
			t.Errorf("line %d: a block that nobody checks", b.line)
			continue
		}
		snippets++
		source, keyed := b.text, ""
		if strings.Contains(b.text, "timer_streams") {
			source, keyed = "", b.text
		}
		s, err := spec.Parse("snippet.yson", fmt.Appendf(nil, timed, source, keyed))
		if err == nil {
			err = s.Problems.Err()
		}
		if err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
	}
	if snippets != 4 {
		t.Errorf("%d snippets", snippets)
	}
}
