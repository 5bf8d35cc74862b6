package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Effective returns the specification with everything filled in: defaults, what
// is implied, and a dynamic entry for each computation and visit stream. Fields
// that are off when absent and were not given are left out, but for numbers,
// which are #. It parses back to a specification that means the same.
func (s *Spec) Effective() *yson.Node {
	return yson.Map(
		yson.Entry{Key: "name", Value: yson.String(s.Name)},
		yson.Entry{Key: "spec", Value: effective(reflect.ValueOf(s.Pipeline))},
		yson.Entry{Key: "dynamic_spec", Value: effective(reflect.ValueOf(s.filled()))},
	)
}

// filled returns the dynamic part with an entry for everything that has one.
func (s *Spec) filled() Dynamic {
	all := map[string]*DynamicComputation{}
	for id, comp := range s.Pipeline.Computations {
		d := *s.Dynamic.Computation(id)
		d.VisitStreams = map[string]*DynamicVisitStream{}
		for _, stream := range comp.VisitStreamIDs() {
			d.VisitStreams[stream] = s.Dynamic.Computation(id).VisitStream(stream)
		}
		all[id] = &d
	}
	return Dynamic{Computations: all}
}

// effective returns the node that the decoder would fill v from, nil where v is
// what it is without any.
func effective(v reflect.Value) *yson.Node {
	switch x := v.Interface().(type) {
	case *yson.Node:
		return x
	case *schema.Schema:
		if x == nil || x.Len() == 0 {
			return nil
		}
		return x.Node()
	case Assigner:
		if x.Column == "" {
			return nil // its other fields say nothing
		}
	case time.Duration:
		return yson.String(yson.FormatDuration(x))
	case yson.Size:
		return sizeNode(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return effectivePointer(v)
	case reflect.Struct:
		return effectiveStruct(v)
	case reflect.Map:
		return effectiveMap(v)
	case reflect.Slice:
		return effectiveList(v)
	default:
		return scalar(v)
	}
}

func scalar(v reflect.Value) *yson.Node {
	switch v.Kind() {
	case reflect.Bool:
		return yson.Boolean(v.Bool())
	case reflect.Float64:
		return yson.Double(v.Float())
	case reflect.String:
		if v.String() == "" {
			return nil
		}
		return yson.String(v.String())
	default:
		return yson.Int64(v.Int())
	}
}

// sizeNode prefers a unit to zeros.
func sizeNode(size yson.Size) *yson.Node {
	text := size.String()
	if strings.TrimLeft(text, "0123456789") == "" {
		return yson.Int64(int64(size))
	}
	return yson.String(text)
}

// effectivePointer shows numbers that were not given, since they can be.
func effectivePointer(v reflect.Value) *yson.Node {
	if !v.IsNil() {
		return effective(v.Elem())
	}
	switch v.Type().Elem().Kind() {
	case reflect.Int, reflect.Float64:
		return yson.Entity()
	default:
		return nil
	}
}

func effectiveStruct(v reflect.Value) *yson.Node {
	n := yson.Map()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, tagged := field.Tag.Lookup("yson")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case field.Anonymous && !tagged:
			n.Map = append(n.Map, effectiveStruct(v.Field(i)).Map...)
		case !tagged || options == "ignored":
		default:
			first, _, _ := strings.Cut(name, "|")
			add(n, first, effective(v.Field(i)))
		}
	}
	return withoutRepeats(v, n)
}

func add(n *yson.Node, name string, value *yson.Node) {
	if value != nil && !(value.Kind == yson.KindMap && len(value.Map) == 0) {
		n.Map = append(n.Map, yson.Entry{Key: name, Value: value})
	}
}

// withoutRepeats leaves out of parameters what the struct's own fields have
// taken from them.
func withoutRepeats(v reflect.Value, n *yson.Node) *yson.Node {
	taken := reflect.TypeFor[PartitionCounts]()
	switch x := v.Interface().(type) {
	case Computation:
		if x.Class.IsCompanion() {
			return n
		}
		taken = reflect.TypeFor[ClassParameters]()
	case DynamicComputation:
	default:
		return n
	}
	parameters := n.Get("parameters")
	if parameters == nil {
		return n
	}
	rest := yson.Map()
	for _, entry := range parameters.Map {
		if !hasField(taken, entry.Key) {
			rest.Map = append(rest.Map, entry)
		}
	}
	n.Map = slices.DeleteFunc(n.Map, func(e yson.Entry) bool { return e.Key == "parameters" })
	add(n, "parameters", rest)
	return n
}

func hasField(t reflect.Type, name string) bool {
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("yson") == name })
}

// effectiveMap keeps entries that are empty: that they are there means
// something.
func effectiveMap(v reflect.Value) *yson.Node {
	n := yson.Map()
	for _, key := range v.MapKeys() {
		value := effective(v.MapIndex(key))
		if value == nil && v.Type().Elem().Kind() == reflect.Slice {
			value = yson.List()
		}
		n.Map = append(n.Map, yson.Entry{Key: key.String(), Value: value})
	}
	return n
}

func effectiveList(v reflect.Value) *yson.Node {
	if v.IsNil() {
		return nil
	}
	n := yson.List()
	for i := range v.Len() {
		n.List = append(n.List, yson.String(v.Index(i).String()))
	}
	return n
}
