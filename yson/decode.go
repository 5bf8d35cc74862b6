package yson

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Unmarshaler is implemented by types that read a node themselves. path is for
// the problems they report.
type Unmarshaler interface {
	UnmarshalYSON(n *Node, path string) Problems
}

// Defaulter is implemented by types that are not all zero when absent: maps,
// lists and pointers call it on each new element before it is decoded.
type Defaulter interface{ SetDefaults() }

// Decode fills dst, a pointer, from n, strictly (see the package comment). What
// n does not give, or gives as the entity, keeps its value in dst. path is the
// place of n for the problems, empty at the root. The problems are all there
// are, in the order of the text; dst is half filled if there are any.
//
// These can be filled: structs (embedded ones inline), pointers (nil = absent),
// map[string]T, []T, bool, integers (text with a unit too, as in [ParseSize]),
// floats, strings, [time.Duration] (text, or an integer in milliseconds),
// [Size], *[Node] (as it is), [Unmarshaler] and [encoding.TextUnmarshaler].
func Decode(n *Node, path string, dst any) Problems {
	var d Decoder
	d.Decode(n, path, dst)
	return d.Problems
}

// Decoder is [Decode] that also notes names which are known but mean nothing,
// and that can be taught types of other packages.
type Decoder struct {
	Problems Problems
	Ignored  []string // paths, in the order of the text
	Types    map[reflect.Type]TypeDecoder
	// Elsewhere may know where a field belongs that the struct at path does not
	// have: the end of the message, empty if it does not.
	Elsewhere func(path, name string) string
}

// TypeDecoder makes a value of the type it is registered for in a [Decoder]; a
// nil result leaves the field as it is.
type TypeDecoder func(n *Node, path string) (any, Problems)

// Decode decodes n into dst and adds to the Problems and Ignored found so far.
// It reports whether it found no problem.
func (d *Decoder) Decode(n *Node, path string, dst any) bool {
	before := len(d.Problems)
	if n == nil {
		n = Entity()
	}
	d.into(n, path, reflect.ValueOf(dst).Elem(), limits{})
	return len(d.Problems) == before
}

// limits are the tags of a field that narrow its values.
type limits struct {
	rules rangeRules
	enum  []string
	set   bool
}

// into decodes n into v unless n is the entity.
func (d *Decoder) into(n *Node, path string, v reflect.Value, lim limits) {
	if v.Type() == reflect.TypeFor[*Node]() {
		v.Set(reflect.ValueOf(n))
		return
	}
	if !n.IsSet() {
		return
	}
	if decode, ok := d.Types[v.Type()]; ok {
		d.foreign(decode, n, path, v)
		return
	}
	if v.Kind() == reflect.Pointer {
		target := newElement(v.Type().Elem())
		d.into(n, path, target, lim)
		v.Set(target.Addr())
		return
	}
	if u, ok := v.Addr().Interface().(Unmarshaler); ok {
		d.Problems = append(d.Problems, u.UnmarshalYSON(n, path)...)
		return
	}
	if len(n.Attributes) > 0 {
		d.Problems.Add(n, path, "attributes <...> mean nothing here: remove them")
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(n, path, u)
		return
	}
	d.byKind(n, path, v, lim)
}

func (d *Decoder) foreign(decode TypeDecoder, n *Node, path string, v reflect.Value) {
	value, problems := decode(n, path)
	d.Problems = append(d.Problems, problems...)
	if value != nil {
		v.Set(reflect.ValueOf(value))
	}
}

func (d *Decoder) byKind(n *Node, path string, v reflect.Value, lim limits) {
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, path, v)
	case reflect.Map:
		d.mapping(n, path, v, lim)
	case reflect.Slice:
		d.list(n, path, v, lim)
	default:
		d.scalar(n, path, v, lim)
	}
}

// newElement returns a settable new value with its defaults.
func newElement(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if s, ok := v.Interface().(Defaulter); ok {
		s.SetDefaults()
	}
	return v.Elem()
}

func (d *Decoder) text(n *Node, path string, u encoding.TextUnmarshaler) {
	if n.Kind != KindString {
		d.mismatch(n, path, "a string")
		return
	}
	if err := u.UnmarshalText([]byte(n.Text)); err != nil {
		d.Problems.Add(n, path, "%v", err)
	}
}

func (d *Decoder) mismatch(n *Node, path, want string) {
	d.Problems.Add(n, path, "want %s, got %s", want, describe(n))
}

// describe prints a node for a message, shortly.
func describe(n *Node) string {
	switch n.Kind {
	case KindEntity, KindList, KindMap:
		return n.Kind.String()
	}
	const limit = 60
	short := *n
	if len(n.Text) <= limit {
		return n.Kind.String() + " " + string(appendScalar(nil, n))
	}
	short.Text = n.Text[:limit]
	return n.Kind.String() + " " + string(appendScalar(nil, &short)) + "..."
}

// mapping fills a map[string]T; entries with problems are left out.
func (d *Decoder) mapping(n *Node, path string, v reflect.Value, lim limits) {
	if n.Kind != KindMap {
		d.mismatch(n, path, "a map")
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Map))
	for _, entry := range n.Map {
		item := newElement(v.Type().Elem())
		d.element(entry.Value, Join(path, entry.Key), item, lim)
		m.SetMapIndex(reflect.ValueOf(entry.Key).Convert(v.Type().Key()), item)
	}
	v.Set(m)
}

// element decodes an item of a list or map; pointers are never nil there, and
// {"x" = #} is an x with its defaults, which lacks what is required.
func (d *Decoder) element(n *Node, path string, v reflect.Value, lim limits) {
	if v.Type() == reflect.TypeFor[*Node]() {
		d.into(n, path, v, lim)
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(newElement(v.Type().Elem()).Addr())
		v = v.Elem()
	}
	if !n.IsSet() {
		if v.Kind() != reflect.Struct {
			d.Problems.Add(n, path, "want a value, got an entity")
			return
		}
		n = &Node{Kind: KindMap, Attributes: n.Attributes, Pos: n.Pos}
	}
	d.into(n, path, v, lim)
}

// list fills a []T, never with nil: an empty list differs from an absent one.
func (d *Decoder) list(n *Node, path string, v reflect.Value, lim limits) {
	if n.Kind != KindList {
		d.mismatch(n, path, "a list")
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.List), len(n.List))
	for i, item := range n.List {
		s.Index(i).Set(newElement(v.Type().Elem()))
		d.element(item, Index(path, i), s.Index(i), lim)
		if lim.set && slices.ContainsFunc(n.List[:i], func(o *Node) bool { return o.Text == item.Text }) {
			d.Problems.Add(item, Index(path, i), "%s is listed twice: remove one", describe(item))
		}
	}
	v.Set(s)
}

func (d *Decoder) scalar(n *Node, path string, v reflect.Value, lim limits) {
	var err error
	switch v.Interface().(type) {
	case time.Duration:
		err = setDuration(n, v)
	case Size:
		err = setInteger(n, v)
	default:
		err = setBasic(n, v)
	}
	if err == nil {
		err = lim.check(n, v)
	} else {
		err = lim.explain(err)
	}
	if err != nil {
		d.Problems.Add(n, path, "%v", err)
		if bad := (*limitError)(nil); errors.As(err, &bad) {
			d.Problems[len(d.Problems)-1].Allowed = bad.allowed
		}
	}
}

func setBasic(n *Node, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		return setBool(n, v)
	case reflect.String:
		switch n.Kind {
		case KindString:
		case KindList, KindMap:
			return fmt.Errorf("want a string, got %s", describe(n))
		default:
			return fmt.Errorf("want a string, got %s: quote it", describe(n))
		}
		v.SetString(n.Text)
		return nil
	case reflect.Float32, reflect.Float64:
		return setFloat(n, v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return setInteger(n, v)
	default:
		panic(fmt.Sprintf("yson: a field of type %s cannot be decoded", v.Type()))
	}
}
