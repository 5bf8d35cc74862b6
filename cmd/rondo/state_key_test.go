package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// keyed is a computation whose key has the columns; hash(a) is first.
func keyedBy(t *testing.T, expression string, columns ...schema.Column) *spec.Computation {
	t.Helper()
	hash := schema.Column{Name: "hash", Type: schema.TypeUint64, Required: true, Expression: expression}
	s, err := schema.New(append([]schema.Column{hash}, columns...))
	if err != nil {
		t.Fatal(err)
	}
	return &spec.Computation{ID: "c", GroupBy: s}
}

func TestKeysAreMadeOfWhatPeopleType(t *testing.T) {
	a, n := schema.Column{Name: "a", Type: schema.TypeString}, schema.Column{Name: "n", Type: schema.TypeInt64}
	b := schema.Column{Name: "b", Type: schema.TypeUint64, Expression: "farm_hash(n)"}
	hash := func(vals ...schema.Value) schema.Value {
		h, err := schema.FarmHash(vals...)
		if err != nil {
			t.Fatal(err)
		}
		return schema.Uint64(h)
	}
	x, seven := schema.String("x"), schema.Int64(-7)
	comp := keyedBy(t, "farm_hash(a)", a, n, b)
	for _, c := range []struct {
		name   string
		comp   *spec.Computation
		args   string // separated by blanks
		whole  schema.Row
		prefix schema.Row
		want   string // part of the error of the whole key
	}{
		{"all values", comp, "x -7", schema.Row{hash(x), x, seven, hash(seven)}, schema.Row{hash(x), x, seven, hash(seven)}, ""},
		{"an object with another hash", comp, `{"n":-7,"hash":1,"a":"x"}`, nil, nil, "column hash is 1u, and farm_hash(a) gives "},
		{"an object with another column", comp, `{"a":"x","nn":-7}`, nil, nil, `nn is no column of the key: did you mean n?`},
		{"an object that is no text", comp, "{\"a\":\"\xff\"}", nil, nil, "it is no UTF-8"},
		{"an object as it is printed", comp, fmt.Sprintf(`{"hash":%d,"a":"x","n":-7}`, hash(x).AsUint64()), schema.Row{hash(x), x, seven, hash(seven)}, nil, ""},
		{"an object", comp, `{"n":-7,"a":"x"}`, schema.Row{hash(x), x, seven, hash(seven)}, schema.Row{hash(x), x, seven, hash(seven)}, ""},
		{"an object with nulls", comp, `{"a":null,"n":-7}`, schema.Row{hash(schema.Null()), schema.Null(), seven, hash(seven)}, nil, ""},
		{"the first value", comp, "x", nil, schema.Row{hash(x), x}, "a key of c has the values a, n, got 1 of 2"},
		{"no value", comp, "", nil, schema.Row{}, "got 0 of 2"},
		{"too many", comp, "x 7 8", nil, nil, "got 3: x 7 8"},
		{"of another type", comp, "x seven", nil, nil, "column n"},
		{"not an object", comp, "{x", nil, nil, "the key {x: "},
		{"a hash that is given", keyedBy(t, "", a), "12 x", schema.Row{schema.Uint64(12), x}, schema.Row{schema.Uint64(12), x}, ""},
		{"a hash that is given, alone", keyedBy(t, "", a), "12", nil, schema.Row{schema.Uint64(12)}, "a key of c has the values hash, a, got 1 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			form, err := newKeyForm(c.comp)
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(c.args)
			got, err := form.whole(args)
			if c.want == "" && (err != nil || got != string(schema.AppendKey(nil, c.whole...))) {
				t.Errorf("the key is %x, %v, want %v", got, err, c.whole)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if c.prefix == nil {
				return
			}
			if got, err := form.prefix(args); err != nil || got != string(schema.AppendKey(nil, c.prefix...)) {
				t.Errorf("the prefix is %x, %v, want %v", got, err, c.prefix)
			}
		})
	}
}

func TestAPrefixNeedsWhatTheHashIsMadeOf(t *testing.T) {
	a, n := schema.Column{Name: "a", Type: schema.TypeString}, schema.Column{Name: "n", Type: schema.TypeInt64}
	form, err := newKeyForm(keyedBy(t, "farm_hash(a, n)", a, n))
	if err != nil {
		t.Fatal(err)
	}
	want := "keys of c begin with hash, which is computed from n too: give that value as well"
	if _, err := form.prefix([]string{"x"}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
