package flow

import (
	"reflect"
	"strings"
)

// selfContained tells whether a cell may keep a value of type t as it is. Two
// things forbid that. A pointer, slice, map, channel or interface would let the
// function change the kept value without Set. A field that codecs leave out
// (unexported, tagged "-", or shadowed by embedding) would be seen by the next
// input of the epoch and be gone in the next epoch. Such values are encoded at
// Set and decoded at each Get.
func selfContained(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return allFields(t)
	case reflect.Array:
		return selfContained(t.Elem())
	case reflect.String:
		return true
	default:
		return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64
	}
}

func allFields(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		marker := f.Name == "_" && f.Type.Size() == 0 // `cbor:",toarray"`
		if !marker && (!f.IsExported() || f.Anonymous || leftOut(f.Tag) || !selfContained(f.Type)) {
			return false
		}
	}
	return true
}

func leftOut(tag reflect.StructTag) bool {
	return strings.HasPrefix(tag.Get("cbor"), "-") || strings.HasPrefix(tag.Get("json"), "-")
}
