package yson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// fieldSpec is a struct field with its parsed tags.
type fieldSpec struct {
	names    []string // the first is the one to print
	value    reflect.Value
	required bool
	ignored  bool
	limits   limits
}

// structure fills a struct from a map: each entry into the field that has its
// name, everything else is a problem.
func (d *Decoder) structure(n *Node, path string, v reflect.Value) {
	if n.Kind != KindMap {
		d.mismatch(n, path, "a map")
		return
	}
	fields := fieldsOf(v)
	given := map[int]string{}
	for _, entry := range n.Map {
		at := &Node{Pos: entry.Pos}
		i := slices.IndexFunc(fields, func(f fieldSpec) bool { return slices.Contains(f.names, entry.Key) })
		if i < 0 {
			d.Problems.Add(at, Join(path, entry.Key), "unknown field: %s", d.unknown(path, entry.Key, fields))
			continue
		}
		f := fields[i]
		if f.ignored {
			d.Ignored = append(d.Ignored, Join(path, entry.Key))
			continue
		}
		if first, twice := given[i]; twice {
			d.Problems.Add(at, Join(path, entry.Key), "this is another name of %s, which is given too: keep one", first)
			continue
		}
		given[i] = entry.Key
		d.field(entry.Value, Join(path, entry.Key), f)
	}
	for i, f := range fields {
		if _, ok := given[i]; f.required && !ok {
			d.Problems.Add(n, path, "%s is missing", f.names[0])
		}
	}
}

func (d *Decoder) field(n *Node, path string, f fieldSpec) {
	if f.required && !n.IsSet() {
		d.Problems.Add(n, path, "this is required, got an entity")
		return
	}
	d.into(n, path, f.value, f.limits)
}

// unknown says what to do about a field that a struct does not have. Those that
// mean nothing may be meant, but are not offered.
func (d *Decoder) unknown(path, name string, fields []fieldSpec) string {
	if d.Elsewhere != nil {
		if hint := d.Elsewhere(path, name); hint != "" {
			return hint
		}
	}
	var known, all []string
	for _, f := range fields {
		all = append(all, f.names...)
		if !f.ignored {
			known = append(known, f.names...)
		}
	}
	if near := Suggest(name, all); near != "" {
		return "did you mean " + near + "?"
	}
	return DidYouMean(name, known)
}

// Knows reports whether a value of type t has a place for the keys, one below the
// other, by which Decode would go: fields of structs by their tags, and any key
// of a map. What is below a *[Node], or read by a type of its own, is not known.
func Knows(t reflect.Type, keys ...string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case len(keys) == 0:
		return true
	case t.Kind() == reflect.Map:
		return Knows(t.Elem(), keys[1:]...)
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[Node]():
		return false
	}
	for _, f := range fieldsOf(reflect.New(t).Elem()) {
		if slices.Contains(f.names, keys[0]) && !f.ignored {
			return Knows(f.value.Type(), keys[1:]...)
		}
	}
	return false
}

// fieldsOf lists the tagged fields of a struct, those of embedded structs
// inline. A malformed tag is a fault of the program, and panics.
func fieldsOf(v reflect.Value) []fieldSpec {
	var fields []fieldSpec
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		tag, tagged := sf.Tag.Lookup("yson")
		switch {
		case sf.Anonymous && !tagged:
			fields = append(fields, fieldsOf(v.Field(i))...)
		case tagged && tag != "-":
			fields = append(fields, parseField(sf, v.Field(i), tag)...)
		}
	}
	return fields
}

// parseField reads the tags of a field. An ignored field stands for several
// names, each a field of its own.
func parseField(sf reflect.StructField, v reflect.Value, tag string) []fieldSpec {
	names, options, _ := strings.Cut(tag, ",")
	f := fieldSpec{names: strings.Split(names, "|"), value: v}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "required":
			f.required = true
		case "set":
			f.limits.set = true
		case "ignored":
			f.ignored = true
		case "":
		default:
			panic(fmt.Sprintf("yson: field %s: unknown option %q in its tag", sf.Name, option))
		}
	}
	f.limits.rules = parseRange(sf.Tag.Get("range"))
	f.limits.enum = strings.Fields(sf.Tag.Get("enum"))
	if !f.ignored {
		return []fieldSpec{f}
	}
	fields := make([]fieldSpec, len(f.names))
	for i, name := range f.names {
		fields[i] = fieldSpec{names: []string{name}, ignored: true}
	}
	return fields
}
