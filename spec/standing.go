package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// partitionCounts may stand beside the parameters of a computation or among them.
var partitionCounts = []string{"desired_partition_count", "min_partition_count", "max_partition_count"}

// standing returns the path at which a value stands already, if that is the other
// one of the two that a partition count has: a value at both would be refused.
func standing(dynamic *yson.Node, path []string) []string {
	if len(path) < 3 || path[0] != "computations" || !slices.Contains(partitionCounts, path[len(path)-1]) {
		return path
	}
	last := path[len(path)-1]
	other := []string{path[0], path[1], "parameters", last}
	switch {
	case len(path) == 4 && path[2] == "parameters":
		other = []string{path[0], path[1], last}
	case len(path) != 3:
		return path
	}
	if at(dynamic, other).IsSet() && !at(dynamic, path).IsSet() {
		return other
	}
	return path
}
