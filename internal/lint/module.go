package lint

import (
	"fmt"
	"slices"
	"strings"
)

// home says which packages may import a module from outside, so that its
// types and errors are translated at one edge.
type home struct {
	module string
	pkgs   []string // patterns as in layers; none: tests only
}

// homes lists every module that this one builds with. DESIGN.md says why
// each was chosen.
var homes = []home{
	{"github.com/Shopify/toxiproxy/v2", nil},
	{"github.com/alecthomas/kong", []string{"cmd/..."}},
	{"github.com/cockroachdb/datadriven", nil},
	{"github.com/cockroachdb/pebble/v2", []string{"store/pebblestore", "internal/bench"}},
	{"github.com/dgryski/go-farm", []string{"schema"}},
	{"github.com/fxamacker/cbor/v2", []string{"flow"}},
	{"github.com/goccy/go-yaml", []string{"yson"}},
	{"github.com/jackc/pgx/v5", []string{"store/pgstore", "store/pgstore/internal/pgsql"}},
	{"github.com/parquet-go/parquet-go", []string{"external"}},
	{"github.com/rogpeppe/go-internal", nil},
	{"github.com/rs/zerolog", nil},
	{"github.com/vbauerster/mpb/v8", []string{"cmd/..."}},
	{"go.uber.org/goleak", nil},
	{"golang.org/x/sync", []string{"engine", "cmd/..."}},
	{"golang.org/x/tools", nil},
	{"golang.org/x/term", []string{"cmd/..."}},
	{"google.golang.org/protobuf", []string{"flow"}},
	{"pgregory.net/rapid", nil},
	{"testing", nil},
}

// testPackages are packages whose work is testing; they may import what tests
// may.
var testPackages = []string{"flowtest", "store/storetest", "store/pgstore/pgtest", "connector/connectortest"}

// checkModules keeps each outside module, and package testing, where it
// belongs.
func checkModules(m *Module, r *report) {
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, line := range importsOf(f) {
				checkModule(m, r, p, f, line)
			}
		}
	}
}

func checkModule(m *Module, r *report, p *Package, f *File, line importLine) {
	if line.spec.Name != nil && line.spec.Name.Name == "." {
		r.at(f, line.spec.Pos(), fmt.Sprintf("dot import of %s hides where names come from", line.path), "import it by its name")
	}
	h, listed := homeOf(line.path)
	_, local := m.folder(line.path)
	switch {
	case local || standard(line.path) && !listed:
	case !listed:
		r.at(f, line.spec.Pos(), fmt.Sprintf("%s has no home", line.path),
			"add it to internal/lint/module.go and say in DESIGN.md why the project needs it")
	case !f.Test && !slices.Contains(testPackages, p.Dir) && !slices.ContainsFunc(h.pkgs, func(pattern string) bool { return matches(pattern, p.Dir) }):
		r.at(f, line.spec.Pos(), fmt.Sprintf("%s imports %s", p.Dir, line.path),
			fmt.Sprintf("it belongs to %s: go through that package's own types", listOr(h.pkgs, "tests")))
	}
}

// homeOf finds the module that an import path lies in, by whole path
// elements.
func homeOf(importPath string) (home, bool) {
	i := slices.IndexFunc(homes, func(h home) bool {
		return importPath == h.module || strings.HasPrefix(importPath, h.module+"/")
	})
	if i < 0 {
		return home{}, false
	}
	return homes[i], true
}
