package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// purePackages decide and never do: time, IO results and errors come in as
// events. A package that does not exist yet is no finding.
var purePackages = []string{"visit", "partition"}

// pureImports is what a pure package may use of the standard library. Nothing
// in it waits, reads a clock, reads or writes, or draws a random number; of
// time only the types and their arithmetic are left (impureTime).
var pureImports = []string{
	"bytes", "cmp", "container/heap", "encoding/binary", "errors", "fmt", "iter", "maps",
	"math", "math/bits", "slices", "sort", "strconv", "strings", "time", "unicode/utf8",
}

// impureTime lists what of package time depends on when or where it runs.
var impureTime = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation",
}

// orderedMark excuses a range over a map whose order cannot reach output. A
// reason follows it.
const orderedMark = "//lint:ordered"

// checkPure holds the pure packages to functions of their arguments.
func checkPure(m *Module, r *report) {
	deep := &deepImporter{module: m, done: map[string]*types.Package{}}
	for _, p := range m.Packages {
		if !slices.Contains(purePackages, p.Dir) || len(p.sources()) == 0 {
			continue
		}
		c := &pureCheck{report: r, pkg: p, info: newInfo()}
		config := types.Config{Importer: deep, Error: c.typeError}
		// Its error repeats the first that typeError was given.
		_, _ = config.Check(m.importPath(p.Dir), m.Fset, p.syntax(true), c.info)
		for _, f := range p.sources() {
			c.file(f)
		}
	}
}

// pureCheck walks the files of one pure package.
type pureCheck struct {
	report *report
	pkg    *Package
	info   *types.Info
	// sorted holds the calls that stand directly inside a sorting one.
	sorted map[ast.Node]bool
	marks  map[int]bool // lines with an orderedMark
}

func (c *pureCheck) typeError(err error) {
	e, ok := err.(types.Error)
	if !ok {
		return
	}
	pos := e.Fset.Position(e.Pos)
	c.report.line(pos.Filename, pos.Line, "cannot be type-checked: "+e.Msg, "make the package compile, its purity cannot be judged before")
}

func (c *pureCheck) file(f *File) {
	for _, line := range importsOf(f) {
		if standard(line.path) && !slices.Contains(pureImports, line.path) {
			c.at(f, line.spec, "imports "+line.path, "let the driver do it and pass the result in as an event")
		}
	}
	c.readMarks(f)
	c.sorted = map[ast.Node]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		c.node(f, n)
		return true
	})
}

func (c *pureCheck) at(f *File, n ast.Node, what, remedy string) {
	c.report.at(f, n.Pos(), fmt.Sprintf("pure package %s %s", c.pkg.Dir, what), remedy)
}

func (c *pureCheck) node(f *File, n ast.Node) {
	const drive = "the driver owns goroutines and waiting: return what is to be done"
	switch n := n.(type) {
	case *ast.GoStmt:
		c.at(f, n, "starts a goroutine", drive)
	case *ast.SelectStmt:
		c.at(f, n, "selects on channels", drive)
	case *ast.SendStmt:
		c.at(f, n, "sends on a channel", drive)
	case *ast.ChanType:
		c.at(f, n, "has a channel", drive)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.at(f, n, "receives from a channel", drive)
		}
	case *ast.CallExpr:
		c.call(n)
	case *ast.SelectorExpr:
		c.selector(f, n)
	case *ast.RangeStmt:
		c.loop(f, n)
	}
}

// call notes the maps.Keys and maps.Values that a slices.Sorted… puts in
// order.
func (c *pureCheck) call(n *ast.CallExpr) {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) == 0 {
		return
	}
	importPath, name, ok := qualified(c.info, sel)
	inner, isCall := n.Args[0].(*ast.CallExpr)
	if ok && isCall && importPath == "slices" && strings.HasPrefix(name, "Sorted") {
		c.sorted[inner.Fun] = true
	}
}

func (c *pureCheck) selector(f *File, n *ast.SelectorExpr) {
	importPath, name, ok := qualified(c.info, n)
	switch {
	case !ok:
	case importPath == "time" && slices.Contains(impureTime, name):
		c.at(f, n, "uses time."+name, "take the time as an argument (methods end in At(now)) or return a WakeAt")
	case importPath == "maps" && slices.Contains([]string{"All", "Keys", "Values"}, name) && !c.sorted[n] && !c.marked(n):
		c.at(f, n, "uses maps."+name+" in map order", "write slices.Sorted(maps.Keys(m)) and range over that")
	}
}

func (c *pureCheck) loop(f *File, n *ast.RangeStmt) {
	over := c.info.TypeOf(n.X)
	if over == nil {
		return // reported as a type error
	}
	if _, isMap := over.Underlying().(*types.Map); isMap && !c.marked(n) {
		c.at(f, n, "ranges over a map", "range over slices.Sorted(maps.Keys(m)), or write \""+orderedMark+" <why the order cannot show>\" above the loop")
	}
}

// readMarks finds the marks that give a reason; one without counts for
// nothing.
func (c *pureCheck) readMarks(f *File) {
	c.marks = map[int]bool{}
	for _, group := range f.AST.Comments {
		for _, comment := range group.List {
			reason, ok := strings.CutPrefix(comment.Text, orderedMark)
			if ok && strings.TrimSpace(reason) != "" {
				c.marks[c.line(comment)] = true
			}
		}
	}
}

// marked says whether a mark stands on the node's line or the one above.
func (c *pureCheck) marked(n ast.Node) bool {
	line := c.line(n)
	return c.marks[line] || c.marks[line-1]
}

func (c *pureCheck) line(n ast.Node) int {
	return c.report.module.Fset.Position(n.Pos()).Line
}
