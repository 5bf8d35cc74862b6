package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"time"
)

// timeUnits are the constants of package time that defaults use.
var timeUnits = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// evaluate computes a constant expression: literals, constants of the package
// and of time, arithmetic, conversions.
func (s *source) evaluate(e ast.Expr) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
	case *ast.ParenExpr:
		return s.evaluate(e.X)
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return constant.MakeBool(e.Name == "true"), nil
		}
		if value, ok := s.consts[e.Name]; ok {
			return s.evaluate(value)
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && pkg.Name == "time" && timeUnits[e.Sel.Name] != 0 {
			return constant.MakeInt64(int64(timeUnits[e.Sel.Name])), nil
		}
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return s.evaluate(e.Args[0])
		}
	case *ast.UnaryExpr:
		x, err := s.evaluate(e.X)
		if err != nil {
			return nil, err
		}
		return constant.UnaryOp(e.Op, x, 0), nil
	case *ast.BinaryExpr:
		return s.binary(e)
	}
	return nil, fmt.Errorf("package %s: a default is no constant: give SetDefaults literals and constants of the package only", s.dir)
}

func (s *source) binary(e *ast.BinaryExpr) (constant.Value, error) {
	x, err := s.evaluate(e.X)
	if err != nil {
		return nil, err
	}
	y, err := s.evaluate(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case token.SHL, token.SHR:
		n, _ := constant.Uint64Val(y)
		return constant.Shift(x, e.Op, uint(n)), nil
	default:
		return constant.BinaryOp(x, e.Op, y), nil
	}
}

// defaultsOf reads a type's SetDefaults method: the values it gives, by path of
// Go fields.
func (s *source) defaultsOf(name string) (map[string]ast.Expr, error) {
	values := map[string]ast.Expr{}
	method, ok := s.defaults[name]
	if !ok {
		return values, nil
	}
	for _, stmt := range method.Body.List {
		switch stmt := stmt.(type) {
		case *ast.AssignStmt:
			for i, to := range stmt.Lhs {
				path, ok := fieldPath(to)
				if !ok || len(stmt.Rhs) != len(stmt.Lhs) {
					return nil, fmt.Errorf("package %s: SetDefaults of %s assigns to something that is no field", s.dir, name)
				}
				spread(values, path, stmt.Rhs[i])
			}
		case *ast.ExprStmt: // SetDefaults of a part, which is read on its own
		default:
			return nil, fmt.Errorf("package %s: SetDefaults of %s does more than assigning", s.dir, name)
		}
	}
	return values, nil
}

// fieldPath returns the fields that an expression selects of the receiver,
// empty for the receiver itself.
func fieldPath(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return "", true
	case *ast.StarExpr:
		return fieldPath(e.X)
	case *ast.SelectorExpr:
		path, ok := fieldPath(e.X)
		return dotted(path, e.Sel.Name), ok
	default:
		return "", false
	}
}

// spread assigns a value, or the values of a literal's fields.
func spread(values map[string]ast.Expr, path string, value ast.Expr) {
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		values[path] = value
		return
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				spread(values, dotted(path, key.Name), pair.Value)
			}
		}
	}
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
