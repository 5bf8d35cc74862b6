package lint

import (
	"fmt"
	"go/ast"
)

// Upper bounds. Most files and functions are far below: about 150 lines and
// 8 lines.
const (
	maxFileLines        = 800
	maxFuncLines        = 120
	maxSwitchFuncLines  = 150 // a function whose body has a switch of its own, as a state machine's
	maxInterfaceMethods = 6
)

// checkSizes keeps files, functions and interfaces readable.
func checkSizes(m *Module, r *report) {
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Generated {
				continue
			}
			if n := m.Fset.Position(f.AST.FileEnd).Line; n > maxFileLines {
				r.line(f.Path, n, fmt.Sprintf("file has %d lines, at most %d", n, maxFileLines), "split it by what its parts are about")
			}
			for _, decl := range f.AST.Decls {
				checkDeclSize(m, r, f, decl)
			}
		}
	}
}

func checkDeclSize(m *Module, r *report, f *File, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		limit := maxFuncLines
		if hasSwitch(decl) {
			limit = maxSwitchFuncLines
		}
		if n := m.Fset.Position(decl.End()).Line - m.Fset.Position(decl.Pos()).Line + 1; n > limit {
			r.at(f, decl.Pos(), fmt.Sprintf("function %s has %d lines, at most %d", decl.Name.Name, n, limit), "give its steps names of their own")
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			checkInterface(r, f, spec)
		}
	}
}

func hasSwitch(decl *ast.FuncDecl) bool {
	if decl.Body == nil {
		return false
	}
	for _, stmt := range decl.Body.List {
		switch stmt.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return true
		}
	}
	return false
}

// checkInterface counts the methods that an interface declares itself; those
// it embeds were counted where they stand, so joining small ones is free.
func checkInterface(r *report, f *File, spec ast.Spec) {
	ts, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	iface, ok := ts.Type.(*ast.InterfaceType)
	if !ok {
		return
	}
	own := 0
	for _, field := range iface.Methods.List {
		own += len(field.Names)
	}
	if own > maxInterfaceMethods {
		r.at(f, ts.Pos(), fmt.Sprintf("interface %s declares %d methods, at most %d", ts.Name.Name, own, maxInterfaceMethods),
			"split it by who calls what")
	}
}
