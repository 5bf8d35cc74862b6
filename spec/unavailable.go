package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Unavailability is a field that is read and checked but does not run yet, and
// is refused where it is used.
type Unavailability struct {
	Path string // with * for any id

	// field names the class of what is there, and classes are those that run, the
	// default first, each by its long name and its short one; both are empty if classes
	// do not matter.
	field   string
	classes []string

	// Words are the values that are refused, if it is only some; Instead is what
	// to write.
	Words   []string
	Instead string
}

// unavailable is the one list of such things: a feature that arrives removes
// its line.
var unavailable = []Unavailability{
	{Path: "spec.resources"},
	{Path: "spec.computations.*.computation_class_name", Words: bothNames(
		ClassCompanionTransform, ClassCompanionSwiftMap, ClassCompanionSource, ClassCompanionTransformSource),
		Instead: "transform, swift_map, source or transform_source with a function of this process"},
	{Path: "spec.computations.*.timer_streams.*.deduplicate_equal_timestamps", Words: []string{"false"}, Instead: "true, which is the default"},
	{Path: "spec.computations.*.external_state_managers.*", field: "external_state_manager_class_name",
		classes: []string{simpleManagerClass, shortSimpleClass}, Instead: "external_state_manager_class_name = " + shortSimpleClass},
	{Path: "spec.computations.*.external_state_joiners.*", field: "external_state_joiner_class_name",
		classes: []string{simpleJoinerClass, shortSimpleClass, visitorJoinerClass, shortVisitorJoinerClass},
		Instead: "external_state_joiner_class_name = " + shortSimpleClass + " or " + shortVisitorJoinerClass},
	{Path: "spec.computations.*.external_state_joiners.*.client_provider_resource_id"},
	{Path: "spec.computations.*.external_state_joiners.*.client_factory_resource_id"},
	{Path: "spec.computations.*.state_joiners"},
	{Path: "spec.computations.*.required_resource_ids"},
	{Path: "dynamic_spec.computations.*.draining"},
	{Path: "dynamic_spec.computations.*.source_streams.*.parameters"},
	{Path: "dynamic_spec.computations.*.sinks.*.parameters"},
}

// Partly reports whether some values run.
func (u Unavailability) Partly() bool { return len(u.Words) > 0 || u.field != "" }

// refusedClass returns the class of what is at a place, "" if it runs.
func (u Unavailability) refusedClass(n *yson.Node) string {
	class := u.classes[0]
	for _, field := range []string{u.field, "class_name"} {
		if c := n.Get(field); c.IsSet() {
			class = c.Text
		}
	}
	for names := range slices.Chunk(u.classes, 2) {
		if isClass(class, names[0], names[1]) {
			return ""
		}
	}
	return class
}

// bothNames returns the names of classes, the long one with and without its prefix.
func bothNames(classes ...Class) (names []string) {
	for _, c := range classes {
		names = append(names, c.String(), c.LongName(), strings.TrimPrefix(c.LongName(), classPrefix))
	}
	return names
}

// Available reports whether the class runs in this version.
func (c Class) Available() bool {
	return !slices.ContainsFunc(unavailable, func(u Unavailability) bool { return slices.Contains(u.Words, c.LongName()) })
}

// Unavailable lists what this version refuses though it knows it.
func Unavailable() []Unavailability { return slices.Clone(unavailable) }

// checkAvailable refuses what does not run yet. What has a problem at the same
// place already is not told about twice.
func (c *checker) checkAvailable() {
	known := map[string]bool{}
	for _, p := range c.problems {
		known[p.Path] = true
	}
	for _, u := range unavailable {
		for _, at := range c.root.all(strings.Split(u.Path, ".")) {
			if !known[at.path] {
				c.refuseUnavailable(at, u)
			}
		}
	}
}

func (c *checker) refuseUnavailable(at place, u Unavailability) {
	word := at.node.Text
	if at.node.Kind == yson.KindBoolean {
		word = strconv.FormatBool(at.node.Bool)
	}
	switch {
	case u.field != "":
		if class := u.refusedClass(at.node); class != "" {
			c.add(at, "the class %s is not available in this version: %s", class, u.instead(class))
		}
	case len(u.Words) == 0 && says(at.node):
		c.add(at, "this is not available in this version: remove it")
	case slices.Contains(u.Words, word):
		c.add(at, "%s is not available in this version: use %s", word, u.Instead)
	}
}

// instead says which class to take.
func (u Unavailability) instead(class string) string {
	if meant := yson.Suggest(strings.TrimPrefix(class, classPrefix), u.classes); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "use " + u.Instead
}

// says reports whether a field has a value other than the empty ones.
func says(n *yson.Node) bool {
	switch n.Kind {
	case yson.KindEntity:
		return false
	case yson.KindBoolean:
		return n.Bool
	case yson.KindString:
		return n.Text != "" && n.Text != "false"
	case yson.KindMap:
		return len(n.Map) > 0
	case yson.KindList:
		return len(n.List) > 0
	default:
		return true
	}
}
