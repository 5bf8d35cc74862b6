package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// checkTests forbids what makes a test prove less than it seems to: waiting
// by the clock, and leaving out without saying why.
func checkTests(m *Module, r *report) {
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test || slices.Contains(testPackages, p.Dir) {
				c := &testCheck{report: r, pkg: p, file: f}
				ast.Inspect(f.AST, c.visit)
			}
		}
	}
}

type testCheck struct {
	report *report
	pkg    *Package
	file   *File
}

func (c *testCheck) visit(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	importPath, name, isPackage := qualified(c.pkg.Info, sel)
	switch {
	case isPackage && importPath == "time" && name == "Sleep":
		c.report.at(c.file, call.Pos(), "sleeps in a test", "wait for the event itself, or run in a synctest bubble")
	case isPackage && importPath == "testing/synctest" && name == "Test":
		return false // its clock is virtual: sleeping there waits for nothing
	case !isPackage && isSkip(sel.Sel.Name) && !hasReason(call):
		c.report.at(c.file, call.Pos(), "skips without saying why", "make the test run, or give Skip the reason as a text")
	}
	return true
}

func isSkip(method string) bool {
	return method == "Skip" || method == "Skipf" || method == "SkipNow"
}

// hasReason asks for a text literal with something in it.
func hasReason(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	return ok && strings.Trim(lit.Value, "`\" ") != ""
}
