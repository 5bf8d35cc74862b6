package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
)

// checkDocs wants a doc comment on every package, in doc.go, and on every
// exported function, type, constant, variable and interface method. Whether a
// field needs one is left to review: a comment that repeats a good name is
// worse than none. Commands and tests export to nobody.
func checkDocs(m *Module, r *report) {
	for _, p := range m.Packages {
		files := p.written()
		if len(files) == 0 {
			continue
		}
		checkPackageDoc(r, p, files)
		if p.Name == "main" {
			continue
		}
		for _, f := range files {
			for _, decl := range f.AST.Decls {
				(&docCheck{r, f}).decl(decl)
			}
		}
	}
}

func checkPackageDoc(r *report, p *Package, files []*File) {
	documented := slices.ContainsFunc(files, func(f *File) bool {
		return f.AST.Doc != nil && (p.Name == "main" || path.Base(f.Path) == "doc.go")
	})
	if !documented {
		r.at(files[0], files[0].AST.Package, fmt.Sprintf("package %s has no doc comment in doc.go", p.Name),
			"say there what it is for and what it promises")
	}
}

type docCheck struct {
	report *report
	file   *File
}

func (c *docCheck) missing(n *ast.Ident, what string) {
	c.report.at(c.file, n.Pos(), fmt.Sprintf("%s %s has no doc comment", what, n.Name),
		"say what it means: units, errors, who may call it when")
}

func (c *docCheck) decl(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Doc == nil && decl.Name.IsExported() && exportedReceiver(decl) {
			c.missing(decl.Name, "function")
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			c.spec(decl, spec)
		}
	}
}

// exportedReceiver says whether a function can be called from outside: it has
// no receiver or one whose type is exported.
func exportedReceiver(decl *ast.FuncDecl) bool {
	if decl.Recv == nil {
		return true
	}
	t := decl.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

func (c *docCheck) spec(decl *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		// A group's comment speaks for all of it.
		if decl.Doc != nil || spec.Doc != nil || spec.Comment != nil {
			return
		}
		for _, name := range spec.Names {
			if name.IsExported() {
				c.missing(name, decl.Tok.String())
			}
		}
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		doc := spec.Doc
		if doc == nil && decl.Lparen == token.NoPos {
			doc = decl.Doc
		}
		if doc == nil {
			c.missing(spec.Name, "type")
		}
		if iface, ok := spec.Type.(*ast.InterfaceType); ok {
			c.methods(spec.Name.Name, iface.Methods.List, doc.Text())
		}
	}
}

// methods wants a contract for each method of an interface. The type's own
// comment may be it: where it explains the method, or where there is only
// one.
func (c *docCheck) methods(owner string, list []*ast.Field, typeDoc string) {
	for _, field := range list {
		if field.Doc != nil || field.Comment != nil || typeDoc != "" && len(list) == 1 {
			continue
		}
		for _, name := range field.Names {
			if name.IsExported() && !mentions(typeDoc, name.Name) {
				c.missing(name, "method "+owner+"'s")
			}
		}
	}
}

func mentions(text, word string) bool {
	return regexp.MustCompile(`\b` + word + `\b`).MatchString(text)
}
