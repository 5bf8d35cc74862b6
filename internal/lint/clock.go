package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// clockReaders are the calls that ask what time it is, or wait where nothing
// can end the wait.
var clockReaders = []string{"Now", "Since", "Until", "Sleep", "Tick"}

// clockFiles may read the clock: the driver's one clock, what a server takes by default, the commands that
// start it, and benchmarks. A path that ends in a slash covers the folder.
var clockFiles = []string{"console/clock.go", "engine/clock.go", "cluster/clock.go", "cmd/", "internal/bench/"}

// checkClock keeps one clock in the product, so that tests can replace it.
func checkClock(m *Module, r *report) {
	for _, p := range m.Packages {
		for _, f := range p.sources() {
			if slices.ContainsFunc(clockFiles, func(allowed string) bool {
				return f.Path == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(f.Path, allowed)
			}) || slices.Contains(purePackages, p.Dir) {
				continue // the pure packages have a stricter rule
			}
			checkClockIn(r, p, f)
		}
	}
}

func checkClockIn(r *report, p *Package, f *File) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		importPath, name, ok := qualified(p.Info, sel)
		if ok && importPath == "time" && slices.Contains(clockReaders, name) {
			r.at(f, sel.Pos(), "uses time."+name+" outside the driver's clock", "take the time as an argument, or a timer that a context can end")
		}
		return true
	})
}
