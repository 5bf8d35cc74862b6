package lint

import (
	"errors"
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"strings"
)

// resolve fills in p.Info. Everything imported is taken as an empty package,
// so most expressions keep no type; but every name is known to be local, the
// package's own, or an import, which is what a syntax tree alone cannot tell.
func (m *Module) resolve(p *Package) {
	p.Info = newInfo()
	config := types.Config{Importer: hollowImporter{}, Error: func(error) {}}
	// The error repeats the first of those dropped above.
	_, _ = config.Check(m.importPath(p.Dir), m.Fset, p.syntax(false), p.Info)
}

func newInfo() *types.Info {
	return &types.Info{
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{},
	}
}

// syntax returns the package's trees, all of them or those that ship.
func (p *Package) syntax(shipped bool) []*ast.File {
	files := p.Files
	if shipped {
		files = p.sources()
	}
	trees := make([]*ast.File, len(files))
	for i, f := range files {
		trees[i] = f.AST
	}
	return trees
}

func (m *Module) importPath(dir string) string {
	return path.Join(m.Path, dir)
}

// folder turns an import path into a folder of this module.
func (m *Module) folder(importPath string) (dir string, ok bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}

// importsOf lists a file's imports with their paths unquoted.
func importsOf(f *File) []importLine {
	lines := make([]importLine, len(f.AST.Imports))
	for i, spec := range f.AST.Imports {
		lines[i] = importLine{path: strings.Trim(spec.Path.Value, "`\""), spec: spec}
	}
	return lines
}

type importLine struct {
	path string
	spec *ast.ImportSpec
}

// standard says whether an import path belongs to the standard library: its
// first element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// qualified reads sel as a name of an imported package.
func qualified(info *types.Info, sel *ast.SelectorExpr) (importPath, name string, ok bool) {
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	pkg, ok := info.Uses[id].(*types.PkgName)
	if !ok {
		return "", "", false
	}
	return pkg.Imported().Path(), sel.Sel.Name, true
}

// hollowImporter answers every import with an empty package.
type hollowImporter struct{}

func (hollowImporter) Import(importPath string) (*types.Package, error) {
	return hollow(importPath), nil
}

func hollow(importPath string) *types.Package {
	p := types.NewPackage(importPath, guessName(importPath))
	p.MarkComplete()
	return p
}

// guessName guesses a package's name from its path: the last element that is
// no major version.
func guessName(importPath string) string {
	dir, base := path.Split(importPath)
	if dir != "" && regexp.MustCompile(`^v[0-9]+$`).MatchString(base) {
		base = path.Base(dir)
	}
	return base
}

// deepImporter follows imports: this module's from its parsed files, the
// standard library's from its sources. Other modules stay empty; the pure
// packages may not import them.
type deepImporter struct {
	module *Module
	done   map[string]*types.Package
}

func (d *deepImporter) Import(importPath string) (*types.Package, error) {
	if p, ok := d.done[importPath]; ok {
		if p == nil {
			return nil, errors.New("import cycle")
		}
		return p, nil
	}
	d.done[importPath] = nil
	p, err := d.load(importPath)
	d.done[importPath] = p
	return p, err
}

func (d *deepImporter) load(importPath string) (*types.Package, error) {
	dir, local := d.module.folder(importPath)
	switch {
	case local:
		return d.loadLocal(dir)
	case standard(importPath):
		return d.module.std.Import(importPath)
	default:
		return hollow(importPath), nil
	}
}

// loadLocal type-checks what a package of this module declares. Errors are
// left out: they come from modules that stay empty, and the compiler reports
// real ones.
func (d *deepImporter) loadLocal(dir string) (*types.Package, error) {
	for _, p := range d.module.Packages {
		if p.Dir == dir && len(p.sources()) > 0 {
			config := types.Config{Importer: d, IgnoreFuncBodies: true, Error: func(error) {}}
			pkg, _ := config.Check(d.module.importPath(dir), d.module.Fset, p.syntax(true), nil)
			return pkg, nil
		}
	}
	return nil, errors.New("no such package in this module")
}
