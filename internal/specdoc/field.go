package main

import (
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one tagged field of a struct.
type field struct {
	names    []string // in specs; the first is the one to write
	goName   string
	typ      ast.Expr
	required bool
	set      bool
	rules    string // the range tag
	words    string // the enum tag
	comment  string
}

// structFields are the fields of a struct, those of embedded structs inline.
type structFields struct {
	fields   []field
	ignored  []string
	defaults map[string]ast.Expr // by path of Go fields
}

// fieldsOf reads a struct of the package. name is its type's, for its defaults;
// given are defaults that something around it sets, and win.
func (s *source) fieldsOf(name string, t *ast.StructType, given map[string]ast.Expr) (structFields, error) {
	own, err := s.defaultsOf(name)
	if err != nil {
		return structFields{}, err
	}
	maps.Copy(own, given)
	all := structFields{defaults: own}
	for _, f := range t.Fields.List {
		if len(f.Names) == 0 && f.Tag == nil {
			embedded, st := s.structOf(f.Type)
			if st == nil {
				continue
			}
			inner, err := s.fieldsOf(embedded, st, own)
			if err != nil {
				return structFields{}, err
			}
			all.fields = append(all.fields, inner.fields...)
			all.ignored = append(all.ignored, inner.ignored...)
			all.defaults = inner.defaults
			continue
		}
		if err := s.addField(&all, f); err != nil {
			return structFields{}, err
		}
	}
	return all, nil
}

// addField reads one field; those without a tag are not for specs.
func (s *source) addField(all *structFields, f *ast.Field) error {
	if f.Tag == nil {
		return nil
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return err
	}
	tag := reflect.StructTag(text)
	yson, tagged := tag.Lookup("yson")
	if !tagged || yson == "-" || len(f.Names) == 0 {
		return nil
	}
	names, options, _ := strings.Cut(yson, ",")
	if slices.Contains(strings.Split(options, ","), "ignored") {
		all.ignored = append(all.ignored, strings.Split(names, "|")...)
		return nil
	}
	if len(f.Names) != 1 {
		return fmt.Errorf("package %s: fields that share a tag: %s", s.dir, f.Names[0].Name)
	}
	all.fields = append(all.fields, field{
		names: strings.Split(names, "|"), goName: f.Names[0].Name, typ: f.Type,
		required: slices.Contains(strings.Split(options, ","), "required"),
		set:      slices.Contains(strings.Split(options, ","), "set"),
		rules:    tag.Get("range"), words: tag.Get("enum"),
		comment: strings.TrimSpace(f.Doc.Text() + f.Comment.Text()),
	})
	return nil
}

// below returns the defaults of what lies below a field.
func below(defaults map[string]ast.Expr, goName string) map[string]ast.Expr {
	inner := map[string]ast.Expr{}
	for path, value := range defaults {
		if rest, ok := strings.CutPrefix(path, goName+"."); ok {
			inner[rest] = value
		}
	}
	return inner
}
