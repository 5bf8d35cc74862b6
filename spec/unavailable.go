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
	Path    string                // with * for any id
	without func(*yson.Node) bool // tells what is not refused

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
	{Path: "spec.computations.*.external_state_managers.*", without: isSimpleManager, Instead: "external_state_manager_class_name = " + shortSimpleClass},
	{Path: "spec.computations.*.external_state_joiners.*", without: isKnownJoiner, Instead: "external_state_joiner_class_name = " + shortSimpleClass + " or " + shortVisitorJoinerClass},
	{Path: "spec.computations.*.external_state_joiners.*.client_provider_resource_id"},
	{Path: "spec.computations.*.external_state_joiners.*.client_factory_resource_id"},
	{Path: "spec.computations.*.state_joiners"},
	{Path: "spec.computations.*.required_resource_ids"},
	{Path: "dynamic_spec.computations.*.draining"},
	{Path: "dynamic_spec.computations.*.source_streams.*.parameters"},
	{Path: "dynamic_spec.computations.*.sinks.*.parameters"},
}

// Partly reports whether some values run.
func (u Unavailability) Partly() bool { return len(u.Words) > 0 || u.without != nil }

// isSimpleManager tells whether a manager's class is one that runs.
func isSimpleManager(n *yson.Node) bool {
	m := ExternalManager{ClassName: simpleManagerClass}
	for _, field := range []string{"external_state_manager_class_name", "class_name"} {
		if c := n.Get(field); c.IsSet() {
			m.ClassName = c.Text
		}
	}
	return isClass(m.ClassName, simpleManagerClass, shortSimpleClass)
}

// isKnownJoiner tells whether a joiner's class is one that runs.
func isKnownJoiner(n *yson.Node) bool {
	j := ExternalJoiner{ClassName: simpleJoinerClass}
	for _, field := range []string{"external_state_joiner_class_name", "class_name"} {
		if c := n.Get(field); c.IsSet() {
			j.ClassName = c.Text
		}
	}
	return j.VisitorDriven() || isClass(j.ClassName, simpleJoinerClass, shortSimpleClass)
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
	case u.without != nil:
		if !u.without(at.node) {
			c.add(at, "this class is not available in this version: use %s", u.Instead)
		}
	case len(u.Words) == 0 && says(at.node):
		c.add(at, "this is not available in this version: remove it")
	case slices.Contains(u.Words, word):
		c.add(at, "%s is not available in this version: use %s", word, u.Instead)
	}
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
