package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// checkGlobals forbids init functions and package variables that change.
// Sentinel errors, tables and compiled patterns are package variables too;
// what tells them apart is that nobody writes them after their declaration.
func checkGlobals(m *Module, r *report) {
	written := m.writtenGlobals()
	for _, p := range m.Packages {
		for _, f := range p.written() {
			for _, decl := range f.AST.Decls {
				switch decl := decl.(type) {
				case *ast.FuncDecl:
					if decl.Recv == nil && decl.Name.Name == "init" {
						r.at(f, decl.Pos(), "has an init function", "build the value where it is used, or pass it in from main")
					}
				case *ast.GenDecl:
					checkVars(r, p, f, decl, written)
				}
			}
		}
	}
}

func checkVars(r *report, p *Package, f *File, decl *ast.GenDecl, written map[string]token.Position) {
	if decl.Tok != token.VAR {
		return
	}
	for _, s := range decl.Specs {
		spec := s.(*ast.ValueSpec)
		for i, name := range spec.Names {
			if name.Name == "_" {
				continue
			}
			if why := mutable(p, decl, spec, i, written); why != "" {
				r.at(f, name.Pos(), fmt.Sprintf("package variable %s %s", name.Name, why),
					"make it a field of what owns it, or a table that is complete where it is declared")
			}
		}
	}
}

// mutable says why a package variable is state, "" if it is a constant in all
// but name.
func mutable(p *Package, decl *ast.GenDecl, spec *ast.ValueSpec, i int, written map[string]token.Position) string {
	if at, ok := written[p.Dir+"."+spec.Names[i].Name]; ok {
		return fmt.Sprintf("is changed at %s:%d", at.Filename, at.Line)
	}
	if spec.Type != nil && synchronised(p, spec.Type) {
		return "is shared state by its type"
	}
	if len(spec.Values) == 0 {
		if embedded(decl, spec) {
			return ""
		}
		return "has no value, so somebody sets it later"
	}
	if i < len(spec.Values) && empty(p, spec.Values[i]) {
		return "begins empty, so somebody fills it later"
	}
	return ""
}

// embedded says whether the compiler fills the variable.
func embedded(decl *ast.GenDecl, spec *ast.ValueSpec) bool {
	return slices.ContainsFunc([]*ast.CommentGroup{decl.Doc, spec.Doc}, func(doc *ast.CommentGroup) bool {
		return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
			return strings.HasPrefix(c.Text, "//go:embed ")
		})
	})
}

// synchronised says whether a type comes from sync or sync/atomic. A pool is
// let through: nothing can be read back from it.
func synchronised(p *Package, expr ast.Expr) bool {
	found := false
	ast.Inspect(expr, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			importPath, name, ok := qualified(p.Info, sel)
			found = found || ok && (importPath == "sync" && name != "Pool" || importPath == "sync/atomic")
		}
		return true
	})
	return found
}

// empty recognises make, new, and the literal of a map with nothing in it or
// of a synchronised type.
func empty(p *Package, value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.UnaryExpr:
		return v.Op == token.AND && empty(p, v.X)
	case *ast.CompositeLit:
		_, isMap := v.Type.(*ast.MapType)
		return isMap && len(v.Elts) == 0 || v.Type != nil && synchronised(p, v.Type)
	case *ast.CallExpr:
		fn, ok := v.Fun.(*ast.Ident)
		return ok && (fn.Name == "make" || fn.Name == "new")
	}
	return false
}

// writtenGlobals finds every package variable of the module that some
// statement changes, tests included: a hook that a test swaps is state. Keys
// are folder and name.
func (m *Module) writtenGlobals() map[string]token.Position {
	written := map[string]token.Position{}
	for _, p := range m.Packages {
		note := func(target ast.Expr) {
			if name, ok := m.globalOf(p, target); ok {
				written[name] = m.Fset.Position(target.Pos())
			}
		}
		for _, f := range p.Files {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				for _, target := range targets(n) {
					note(target)
				}
				return true
			})
		}
	}
	return written
}

// targets returns the expressions that a node changes or lets others change.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		return []ast.Expr{n.Key, n.Value}
	case *ast.UnaryExpr:
		// The address of an entry is how large tables are read.
		if _, entry := n.X.(*ast.IndexExpr); n.Op == token.AND && !entry {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		fn, ok := n.Fun.(*ast.Ident)
		if ok && len(n.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// globalOf finds the package variable at the root of an expression such as
// table[i].field or pkg.Table[i].
func (m *Module) globalOf(p *Package, target ast.Expr) (key string, ok bool) {
	switch t := target.(type) {
	case *ast.IndexExpr:
		return m.globalOf(p, t.X)
	case *ast.StarExpr:
		return m.globalOf(p, t.X)
	case *ast.ParenExpr:
		return m.globalOf(p, t.X)
	case *ast.SliceExpr:
		return m.globalOf(p, t.X)
	case *ast.SelectorExpr:
		if importPath, name, ok := qualified(p.Info, t); ok {
			dir, local := m.folder(importPath)
			return dir + "." + name, local
		}
		return m.globalOf(p, t.X)
	case *ast.Ident:
		v, ok := p.Info.Uses[t].(*types.Var)
		return p.Dir + "." + t.Name, ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	}
	return "", false
}
