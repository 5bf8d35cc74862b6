package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// checker collects the problems and notes of one specification.
type checker struct {
	spec     *Spec
	root     place
	problems yson.Problems
}

func (c *checker) add(at place, format string, args ...any) {
	c.problems.Add(at.node, at.path, format, args...)
}

func (c *checker) addError(at place, err error) {
	if err != nil {
		c.problems = append(c.problems, problemsOf(at, err)...)
	}
}

func (c *checker) note(at place, format string, args ...any) {
	c.spec.Notes = append(c.spec.Notes, at.path+": "+fmt.Sprintf(format, args...))
}

func (c *checker) place(computation string) place {
	return c.root.keys("spec", "computations", computation)
}

func (c *checker) dynamicPlace(computation string) place {
	return c.root.keys("dynamic_spec", "computations", computation)
}

// check applies every rule, in an order that does not depend on maps.
func (c *checker) check() {
	if !isName(c.spec.Name) {
		c.add(c.root.key("name"), "%q cannot name a pipeline: give a name of letters, digits and _ . -, at most 100, beginning with a letter or digit", c.spec.Name)
	}
	p := &c.spec.Pipeline
	if len(p.Computations) == 0 && c.root.raw("spec").IsSet() {
		c.add(c.root.keys("spec", "computations"), "there are no computations")
	}
	c.checkStreams()
	c.checkResources()
	for _, id := range p.ComputationIDs() {
		c.checkComputation(p.Computations[id])
	}
	c.checkProducers()
	c.checkCycles()
	c.checkDynamic()
}

// result returns the specification, with its problems in the order of the text.
func (c *checker) result() (*Spec, error) {
	c.problems.Sort()
	c.spec.Problems = c.problems
	return c.spec, c.problems.Err()
}

// sorted returns the keys of a map in order.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// list prints names as a YSON list, ready to be copied into a spec.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return "[" + strings.Join(quoted, "; ") + "]"
}
