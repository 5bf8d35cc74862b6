package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"strconv"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// kind is what a field takes, in words for its readers.
type kind struct {
	words string
	zero  string // the default where none is given, empty if that is nothing
	print func(constant.Value) string
}

func plain(words string) kind {
	return kind{words: words, print: func(v constant.Value) string { return constant.StringVal(v) }}
}

func whole(v constant.Value) int64 {
	i, _ := constant.Int64Val(constant.ToInt(v))
	return i
}

// The kinds of Go types that are the same in every package.
var (
	durationKind = kind{"duration", "0s", func(v constant.Value) string { return yson.FormatDuration(time.Duration(whole(v))) }}
	sizeKind     = kind{"size", "0", func(v constant.Value) string { return yson.Size(whole(v)).String() }}
	integerKind  = kind{"integer", "0", func(v constant.Value) string { return strconv.FormatInt(whole(v), 10) }}
	numberKind   = kind{"number", "0", func(v constant.Value) string {
		f, _ := constant.Float64Val(v)
		return strconv.FormatFloat(f, 'g', -1, 64)
	}}
	booleanKind = kind{"boolean", "false", func(v constant.Value) string { return v.String() }}
)

// foreignKinds are the types of other packages.
var foreignKinds = map[string]kind{
	"time.Duration": durationKind,
	"yson.Size":     sizeKind,
	"yson.Node":     plain("any value"),
	"schema.Schema": plain("[schema](#schemas)"),
	"schema.Column": plain("[column](#schemas)"),
}

// kindOf describes a type of the package.
func (s *source) kindOf(f *field, t ast.Expr) (kind, error) {
	switch t := t.(type) {
	case *ast.StarExpr:
		k, err := s.kindOf(f, t.X)
		k.zero = ""
		return k, err
	case *ast.SelectorExpr:
		if k, ok := foreignKinds[t.X.(*ast.Ident).Name+"."+t.Sel.Name]; ok {
			return k, nil
		}
	case *ast.StructType:
		return plain("map"), nil
	case *ast.ArrayType:
		return s.listKind(f, t)
	case *ast.MapType:
		inner, err := s.kindOf(&field{set: f.set}, t.Value)
		if inner.words == "map" {
			return plain("map by id"), err
		}
		return plain("map of id to " + inner.words), err
	case *ast.Ident:
		return s.namedKind(f, t.Name)
	}
	return kind{}, fmt.Errorf("package %s: field %s has a type that the reference cannot describe: teach it to internal/specdoc/value.go", s.dir, f.goName)
}

func (s *source) listKind(f *field, t *ast.ArrayType) (kind, error) {
	inner, err := s.kindOf(&field{}, t.Elt)
	if f.set {
		return plain("set of " + inner.words), err
	}
	return plain("list of " + inner.words), err
}

func (s *source) namedKind(f *field, name string) (kind, error) {
	switch {
	case name == "string" && f.words != "":
		return plain("word"), nil
	case name == "string":
		return plain("text"), nil
	case name == "bool":
		return booleanKind, nil
	case strings.HasPrefix(name, "float"):
		return numberKind, nil
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return integerKind, nil
	case s.dir == "schema" && name == "Type":
		return plain("[column type](#column-types)"), nil
	case s.types[name].expr != nil:
		return s.kindOf(f, s.types[name].expr)
	default:
		return kind{}, fmt.Errorf("package %s: there is no type %s", s.dir, name)
	}
}
