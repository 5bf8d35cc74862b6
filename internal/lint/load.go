package lint

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is one module's parsed sources.
type Module struct {
	Path     string // as go.mod says
	Fset     *token.FileSet
	Packages []*Package // in order of folder; an external test package stands by itself
	Texts    []Text     // every text file of the tree, Go sources and testdata included

	std types.Importer
}

// Package is one package as it stands in its folder, whatever its build tags.
type Package struct {
	Dir   string // from the module's root, "." for the root
	Name  string
	Files []*File
	Info  *types.Info // names resolved within this package; imports are not followed
}

// File is one Go source file.
type File struct {
	Path      string
	Test      bool // name ends in _test.go
	Generated bool
	AST       *ast.File
}

// Text is one text file's content.
type Text struct {
	Path string
	Data []byte
}

// Loader loads modules and keeps what it has read of the standard library.
type Loader struct {
	fset *token.FileSet
	std  types.Importer
}

// NewLoader returns a loader that reads the standard library's sources when a
// rule asks for its types.
func NewLoader() *Loader {
	fset := token.NewFileSet()
	return &Loader{fset: fset, std: importer.ForCompiler(fset, "source", nil)}
}

// Load parses the module whose go.mod is at the root of tree.
func (l *Loader) Load(tree fs.FS) (*Module, error) {
	m := &Module{Fset: l.fset, std: l.std}
	gomod, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("no module here, run from inside one: %w", err)
	}
	for line := range strings.Lines(string(gomod)) {
		if p, ok := strings.CutPrefix(line, "module "); ok {
			m.Path = strings.TrimSpace(p)
		}
	}
	if err := m.readTexts(tree); err != nil {
		return nil, err
	}
	if err := m.parse(); err != nil {
		return nil, err
	}
	for _, p := range m.Packages {
		m.resolve(p)
	}
	return m, nil
}

func (m *Module) readTexts(tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another test's passing file
		case err != nil:
			return err
		case d.IsDir() && skippedDir(d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular(), d.Name() == ".git": // a file, in a linked worktree
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 {
			m.Texts = append(m.Texts, Text{name, data})
		}
		return err
	})
}

// skippedDir says which folders are no part of the project: those of tools,
// and the data folder that a run leaves behind.
func skippedDir(name string) bool {
	hidden := strings.HasPrefix(name, ".") && name != "." && name != ".ci"
	return hidden || name == "rondo-data"
}

func (m *Module) parse() error {
	for _, t := range m.Texts {
		if path.Ext(t.Path) != ".go" || slices.Contains(strings.Split(t.Path, "/"), "testdata") {
			continue
		}
		syntax, err := parser.ParseFile(m.Fset, t.Path, t.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("not a Go file: %w", err)
		}
		p := m.packageFor(path.Dir(t.Path), syntax.Name.Name)
		p.Files = append(p.Files, &File{
			Path:      t.Path,
			Test:      strings.HasSuffix(t.Path, "_test.go"),
			Generated: ast.IsGenerated(syntax),
			AST:       syntax,
		})
	}
	return nil
}

func (m *Module) packageFor(dir, name string) *Package {
	i := slices.IndexFunc(m.Packages, func(p *Package) bool { return p.Dir == dir && p.Name == name })
	if i >= 0 {
		return m.Packages[i]
	}
	p := &Package{Dir: dir, Name: name}
	m.Packages = append(m.Packages, p)
	return p
}

// sources returns the files of a package that ship: no tests.
func (p *Package) sources() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

// written returns the shipped files that people write: no tests, nothing
// generated.
func (p *Package) written() []*File {
	return slices.DeleteFunc(p.sources(), func(f *File) bool { return f.Generated })
}
