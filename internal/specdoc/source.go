package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// source is what the reference needs to know of one package.
type source struct {
	dir      string
	doc      string
	types    map[string]typeDecl
	order    []string            // the names of types, as they stand in the files
	consts   map[string]ast.Expr // with a value of their own
	defaults map[string]*ast.FuncDecl
}

type typeDecl struct {
	expr ast.Expr
	doc  string
}

// load parses the package in a folder, tests left out.
func load(root, dir string) (*source, error) {
	s := &source{dir: dir, types: map[string]typeDecl{}, consts: map[string]ast.Expr{}, defaults: map[string]*ast.FuncDecl{}}
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.take(file)
	}
	if len(s.types) == 0 {
		return nil, fmt.Errorf("package %s has no types", dir)
	}
	return s, nil
}

func (s *source) take(file *ast.File) {
	if file.Doc != nil {
		s.doc = file.Doc.Text()
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if t, ok := receiver(decl); ok && decl.Name.Name == "SetDefaults" {
				s.defaults[t] = decl
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				s.takeSpec(decl, spec)
			}
		}
	}
}

func (s *source) takeSpec(decl *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		doc := spec.Doc.Text()
		if doc == "" && !decl.Lparen.IsValid() {
			doc = decl.Doc.Text()
		}
		s.types[spec.Name.Name] = typeDecl{spec.Type, doc}
		s.order = append(s.order, spec.Name.Name)
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			if decl.Tok == token.CONST && i < len(spec.Values) {
				s.consts[name.Name] = spec.Values[i]
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(decl *ast.FuncDecl) (string, bool) {
	if decl.Recv == nil {
		return "", false
	}
	t := decl.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	name, ok := t.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// structOf returns the struct behind a type of this package: a name, a pointer
// to one, or a struct without a name.
func (s *source) structOf(t ast.Expr) (name string, found *ast.StructType) {
	switch t := t.(type) {
	case *ast.StarExpr:
		return s.structOf(t.X)
	case *ast.StructType:
		return "", t
	case *ast.Ident:
		if st, ok := s.types[t.Name].expr.(*ast.StructType); ok {
			return t.Name, st
		}
	}
	return "", nil
}

// named returns the type with that name.
func (s *source) named(name string) ast.Expr { return &ast.Ident{Name: name} }

// isHeld reports whether the struct type stands in a tagged field of another.
func (s *source) isHeld(name string) bool {
	held := false
	for _, other := range s.types {
		ast.Inspect(other.expr, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if ok && f.Tag != nil && strings.Contains(f.Tag.Value, "yson:") {
				ast.Inspect(f.Type, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					held = held || ok && id.Name == name
					return true
				})
			}
			return true
		})
	}
	return held
}

// owner says whose parameters a struct holds: what its comment calls the source
// "x", the sink "x", the manager "x" or the joiner "x", maybe in the dynamic spec; else its name.
func (s *source) owner(name string) string {
	if m := ownerInWords.FindStringSubmatch(s.types[name].doc); m != nil {
		return "the " + m[1] + " `" + m[2] + "`" + m[3]
	}
	return "`" + strings.TrimSuffix(strings.ToLower(name), "parameters") + "`"
}

var ownerInWords = regexp.MustCompile(`the (source|sink|function|manager|joiner) "(\w+)"( in the dynamic spec)?`)
