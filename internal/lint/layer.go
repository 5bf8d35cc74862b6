package lint

import (
	"fmt"
	"slices"
	"strings"
)

// layer says which packages of this module a package may import. Paths are
// folders; a last element "..." stands for every folder below.
type layer struct {
	pkg string
	may []string
}

// invariantsPkg imports nothing and may be imported everywhere.
const invariantsPkg = "internal/invariants"

// layers is the whole import graph, in the direction of DESIGN.md: what is
// not listed is forbidden, and a package without a row is a finding, so that
// the table stays complete.
var layers = []layer{
	{"yson", nil},
	{"schema", []string{"yson"}},
	{"spec", []string{"schema", "yson"}},
	{"flow", []string{"schema", "yson"}},
	{"visit", nil},
	{"partition", []string{"visit", "store", "flow", "schema"}},
	{"store", []string{"schema", "flow"}},
	{"store/pebblestore", []string{"store", "schema", "flow"}},
	{"store/pgstore", []string{"store", "store/pgstore/internal/pgsql", "schema", "flow"}},
	{"store/pgstore/internal/pgsql", nil},
	{"store/pgstore/pgtest", nil},
	{"store/storetest", []string{"store", "schema", "flow"}},
	{"connector", []string{"store", "schema", "flow", "yson"}},
	{"connector/...", []string{"connector", "schema", "flow", "yson"}},
	{"connector/queue", []string{"connector", "connector/rowtext", "store", "schema", "flow", "yson"}},
	{"connector/file", []string{"connector", "connector/rowtext", "schema", "flow", "yson"}},
	{"external", []string{"connector/rowtext", "flow", "schema", "yson"}},
	{"function", []string{"flow", "schema", "yson"}},
	{"engine", []string{"partition", "visit", "store", "connector", "external", "schema", "flow", "spec", "yson"}},
	{"cluster", []string{"engine", "spec", "store"}},
	{"console", []string{"engine", "visit", "store", "spec", "yson"}},
	{"flowtest", []string{"flow", "schema", "yson"}},
	{"cmd/...", []string{"cluster", "console", "engine", "spec", "store", "store/pebblestore", "store/pgstore", "connector", "connector/...", "external", "function", "flow", "schema", "yson", "internal/bench", "cmd/..."}},
	{"examples/...", []string{"engine", "spec", "store", "store/pebblestore", "connector", "connector/...", "console", "external", "function", "flow", "schema", "yson"}},
	{invariantsPkg, nil},
	{"internal/crash", []string{"engine", "spec", "store", "store/pebblestore", "connector", "connector/...", "function", "flow", "schema", "yson", "internal/figures"}},
	{"internal/fieldreport", nil},
	{"internal/figures", nil},
	{"internal/lint", nil},
	{"internal/metamorphic", nil},
	{"internal/specdoc", []string{"spec", "schema", "yson"}},
	{"internal/bench", []string{"..."}},
}

// checkLayers compares the imports of shipped files with the table. Tests are
// free: they join what the product must keep apart.
func checkLayers(m *Module, r *report) {
	for _, p := range m.Packages {
		sources := p.sources()
		if len(sources) == 0 {
			continue
		}
		row, ok := layerOf(p.Dir)
		if !ok {
			r.at(sources[0], sources[0].AST.Package, fmt.Sprintf("package %s has no row in the table of layers", p.Dir),
				"add one to internal/lint/layer.go that names the few packages it may import")
			continue
		}
		for _, f := range sources {
			checkImports(m, r, row, p, f)
		}
	}
}

func checkImports(m *Module, r *report, row layer, p *Package, f *File) {
	for _, line := range importsOf(f) {
		dir, local := m.folder(line.path)
		if !local || dir == invariantsPkg || slices.ContainsFunc(row.may, func(pattern string) bool { return matches(pattern, dir) }) {
			continue
		}
		r.at(f, line.spec.Pos(), fmt.Sprintf("%s imports %s", p.Dir, dir),
			fmt.Sprintf("it may import %s: turn the dependency round, or pass the thing in as an interface", listOr(row.may, "no package of this module but "+invariantsPkg)))
	}
}

// layerOf returns the row of a package: the one with its own name, else the
// longest pattern that covers it.
func layerOf(dir string) (row layer, found bool) {
	for _, l := range layers {
		if l.pkg == dir {
			return l, true
		}
		if matches(l.pkg, dir) && len(l.pkg) > len(row.pkg) {
			row, found = l, true
		}
	}
	return row, found
}

// matches compares whole path elements: "store/..." covers store/pebblestore
// and neither store nor storage.
func matches(pattern, dir string) bool {
	prefix, open := strings.CutSuffix(pattern, "...")
	if !open {
		return pattern == dir
	}
	return strings.HasPrefix(dir, prefix) && dir != strings.TrimSuffix(prefix, "/")
}

func listOr(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return strings.Join(items, ", ")
}
