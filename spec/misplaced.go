package spec

import (
	"reflect"
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// misplaced says where a field belongs that a part of the file does not have:
// at the same place of the other part, or beside the parameters.
func misplaced(path, name string) string {
	for _, where := range counterparts(yson.Split(path)) {
		if !yson.Knows(reflect.TypeFor[file](), append(where, name)...) {
			continue
		}
		at := yson.Join("", append(where, name)...)
		if where[0] == "dynamic_spec" {
			return "it may change while the pipeline runs, and belongs in " + at
		}
		return "it changes only while the pipeline does not run, and belongs in " + at
	}
	return ""
}

// counterparts are the places where a field of a place may have been meant to
// stand.
func counterparts(keys []string) [][]string {
	var places [][]string
	switch {
	case len(keys) == 0:
		return [][]string{{"spec"}, {"dynamic_spec"}}
	case keys[0] == "spec":
		places = append(places, append([]string{"dynamic_spec"}, keys[1:]...))
	case keys[0] == "dynamic_spec":
		places = append(places, append([]string{"spec"}, keys[1:]...))
	}
	if last := len(keys) - 1; last > 0 && keys[last] == "parameters" {
		places = append(places, counterparts(keys[:last])...)
	}
	for i := range places {
		places[i] = slices.Clip(places[i])
	}
	return places
}
