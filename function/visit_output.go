package function

import (
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// visitOutput is the schema of an output that is written on visits, nil if there is
// none of the name. It tells a problem, at most one: the output has to be there, and
// to depend on every visit stream, lest its watermark passes what is still to come
// (KV-41).
func visitOutput(setup *flow.Setup, stream string, problem func(format string, args ...any)) *schema.Schema {
	out := setup.Outputs[stream]
	if out == nil {
		problem("%q is no output stream of computation %s: the outputs are %s", stream, setup.Computation,
			strings.Join(slices.Sorted(maps.Keys(setup.Outputs)), ", "))
		return nil
	}
	for _, visits := range setup.Visits {
		if !slices.Contains(setup.Parents[stream], visits) {
			problem("stream %s is written on visits by %s and does not depend on them: add \"%s\" = [\"%s\"] to the streams_dependency of computation %s",
				stream, visits, stream, strings.Join(setup.Visits, "\"; \""), setup.Computation)
			break
		}
	}
	return out
}
