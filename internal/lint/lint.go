package lint

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
)

// Finding is one place that breaks a rule.
type Finding struct {
	File   string // slash-separated, from the module's root
	Line   int    // from 1
	Rule   string // name of the rule
	What   string // what stands there
	Remedy string // what to write instead
}

// String prints a finding on one line, the way compilers do.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s; %s", f.File, f.Line, f.Rule, f.What, f.Remedy)
}

// Rule is one check over a whole module.
type Rule struct {
	Name  string
	check func(m *Module, r *report)
}

// Rules returns every rule of the gate.
func Rules() []Rule {
	return []Rule{
		{"layer", checkLayers},
		{"module", checkModules},
		{"pure", checkPure},
		{"clock", checkClock},
		{"global", checkGlobals},
		{"test", checkTests},
		{"todo", checkTodos},
		{"size", checkSizes},
		{"doc", checkDocs},
		{"name", checkNames},
		{"machine", checkMachineText},
		{"reference", checkReferences},
	}
}

// Check applies the rule and returns its findings by file and line.
func (r Rule) Check(m *Module) []Finding {
	rep := report{module: m, rule: r.Name}
	r.check(m, &rep)
	slices.SortStableFunc(rep.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return rep.findings
}

// report collects what one rule finds.
type report struct {
	module   *Module
	rule     string
	findings []Finding
}

// at reports a place in a Go file.
func (r *report) at(f *File, pos token.Pos, what, remedy string) {
	r.line(f.Path, r.module.Fset.Position(pos).Line, what, remedy)
}

// line reports a line of any file.
func (r *report) line(path string, line int, what, remedy string) {
	r.findings = append(r.findings, Finding{File: path, Line: line, Rule: r.rule, What: what, Remedy: remedy})
}
