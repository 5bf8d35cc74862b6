package spec

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/yson"
)

// A path that is shown of a count can be set, wherever the number stands.
func TestAPartitionCountIsSetWhereItStands(t *testing.T) {
	const short, long = "computations.\"a.b\".desired_partition_count", "computations.\"a.b\".parameters.desired_partition_count"
	for _, c := range []struct{ given, path string }{
		{"parameters = {desired_partition_count = 3}", short},
		{"parameters = {desired_partition_count = 3}", long},
		{"desired_partition_count = 3", short},
		{"desired_partition_count = 3", long},
		{"max_rows_per_batch = 9", short},
	} {
		s, err := Parse("test.yson", []byte(strings.Replace(settable, "max_rows_per_batch = 10", c.given, 1)))
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.With(c.path, yson.Int64(5))
		if err != nil {
			t.Errorf("%s, set %s: %v", c.given, c.path, err)
			continue
		}
		if n := now.Dynamic.Computation("a.b").DesiredPartitionCount; n == nil || *n != 5 {
			t.Errorf("%s, set %s: %v", c.given, c.path, n)
		}
		if now, err = now.With(c.path, nil); err != nil || now.Dynamic.Computation("a.b").DesiredPartitionCount != nil {
			t.Errorf("%s, taken away %s: error %v, or the count stays", c.given, c.path, err)
		}
	}
}
