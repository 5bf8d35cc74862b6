package yson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// colour reads itself from text.
type colour int

func (c *colour) UnmarshalText(text []byte) error {
	switch string(text) {
	case "red":
		*c = 1
	case "green":
		*c = 2
	default:
		return fmt.Errorf("unknown colour %q: use red or green", text)
	}
	return nil
}

// interval reads itself from a node [from; to].
type interval struct{ From, To int64 }

func (i *interval) UnmarshalYSON(n *Node, path string) Problems {
	if n.Kind != KindList || len(n.List) != 2 {
		return One(n, path, "want [from; to]")
	}
	i.From, i.To = n.List[0].Int, n.List[1].Int
	return nil
}

type part struct {
	Size  Size    `yson:"size" range:">0,<=1Ki"`
	Share float64 `yson:"share" range:">0,<=1"`
}

func (p *part) SetDefaults() { p.Size, p.Share = 8, 0.25 }

type embedded struct {
	Mode string `yson:"mode" enum:"fast slow"`
}

// sample has a field of every sort.
type sample struct {
	Name   string              `yson:"name|title,required"`
	On     bool                `yson:"on"`
	I8     int8                `yson:"i8"`
	I64    int64               `yson:"i64" range:">=-10"`
	U8     uint8               `yson:"u8"`
	U64    uint64              `yson:"u64"`
	F      float64             `yson:"f"`
	Every  time.Duration       `yson:"every" range:">0,<1d"`
	Limit  Size                `yson:"limit"`
	Maybe  *int                `yson:"maybe"`
	Set    []string            `yson:"set,set"`
	List   []int               `yson:"list"`
	Parts  map[string]*part    `yson:"parts"`
	Plain  map[string]part     `yson:"plain"`
	Row    []part              `yson:"row"`
	Deps   map[string][]string `yson:"deps,set"`
	Raw    *Node               `yson:"raw"`
	Colour colour              `yson:"colour"`
	Span   interval            `yson:"span"`
	Unset  string              // not decoded
	embedded

	_ struct{} `yson:"old|older,ignored"`
}

// print lists the fields that are not zero.
func (s *sample) print(t *testing.T) string {
	var out []string
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if v.Field(i).IsZero() || !field.IsExported() {
			continue
		}
		data, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := v.Field(i).Interface().(*Node); ok {
			data = Encode(n)
		}
		out = append(out, field.Name+" "+string(data))
	}
	return strings.Join(append(out, "Mode "+s.Mode), "\n")
}

// TestDecode runs the scripts in testdata/decode: YSON text into a sample, and
// out come its values, the ignored paths and the problems.
func TestDecode(t *testing.T) {
	datadriven.Walk(t, "testdata/decode", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			node, err := Parse([]byte(d.Input), YSON)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			s := sample{embedded: embedded{Mode: "fast"}}
			var decoder Decoder
			ok := decoder.Decode(node, "", &s)
			if ok != (len(decoder.Problems) == 0) {
				t.Fatalf("Decode reports %v with problems %v", ok, decoder.Problems)
			}
			if !ok {
				return decoder.Problems.Error() + "\n"
			}
			out := s.print(t) + "\n"
			if len(decoder.Ignored) > 0 {
				out += fmt.Sprintf("ignored %v\n", decoder.Ignored)
			}
			return out
		})
	})
}

func TestDecodeKeepsWhatIsNotGiven(t *testing.T) {
	one := 1
	s := sample{Name: "kept", Every: time.Hour, Maybe: &one, Set: []string{"x"}}
	problems := Decode(Map(Entry{Key: "name", Value: String("new")}, Entry{Key: "every", Value: Entity()}, Entry{Key: "set", Value: List()}), "", &s)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if s.Name != "new" || s.Every != time.Hour || *s.Maybe != 1 || s.Set == nil || len(s.Set) != 0 {
		t.Fatalf("got %+v", s)
	}
}

func TestDecodeOfNothingFillsNothing(t *testing.T) {
	p := part{Size: 3}
	if problems := Decode(nil, "x", &p); problems != nil || p.Size != 3 {
		t.Fatalf("got %v, %v", p, problems)
	}
}

func TestDecoderLearnsTypes(t *testing.T) {
	decoder := Decoder{Types: map[reflect.Type]TypeDecoder{
		reflect.TypeFor[*strings.Builder](): func(n *Node, path string) (any, Problems) {
			if n.Kind != KindString {
				return nil, One(n, path, "want text")
			}
			var b strings.Builder
			b.WriteString(n.Text)
			return &b, nil
		},
	}}
	var dst struct {
		A *strings.Builder `yson:"a"`
		B *strings.Builder `yson:"b"`
	}
	decoder.Decode(Map(Entry{Key: "a", Value: String("text")}, Entry{Key: "b", Value: Int64(1)}), "root", &dst)
	if dst.A.String() != "text" || dst.B != nil || decoder.Problems.Error() != "root.b: want text" {
		t.Fatalf("got %v, %v, %v", dst.A, dst.B, decoder.Problems)
	}
}

func TestBadTagsPanic(t *testing.T) {
	for name, dst := range map[string]any{
		"option": &struct {
			A string `yson:"a,requird"`
		}{},
		"operator": &struct {
			A int `yson:"a" range:"=1"`
		}{},
		"bound": &struct {
			A int `yson:"a" range:">x"`
		}{},
		"type": &struct {
			A chan int `yson:"a"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a bad %s in a tag passes", name)
				}
			}()
			Decode(Map(Entry{Key: "a", Value: Int64(1)}), "", dst)
		}()
	}
}

func TestProblemsPrintAndSort(t *testing.T) {
	ps := Problems{
		{Message: "no place"},
		{Line: 2, Column: 1, Path: "b", Message: "second\nwith a line"},
		{Line: 1, Column: 9, Path: "a", Message: "first, later"},
		{Line: 1, Column: 2, Message: "first"},
	}
	ps.Sort()
	want := "1:2: first\n1:9: a: first, later\n2:1: b: second\n  with a line\nno place"
	if ps.Error() != want {
		t.Fatalf("got\n%s\nwant\n%s", ps.Error(), want)
	}
	var found Problems
	if err := fmt.Errorf("spec: %w", ps.Err()); !errors.As(err, &found) || len(found) != 4 {
		t.Fatal("problems are lost in an error")
	}
	if Problems(nil).Err() != nil {
		t.Fatal("no problems are an error")
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"period", "finite", "final_pass_period", "buffer_row_limit"}
	for word, want := range map[string]string{
		"periods": "period", "preiod": "period", "Finite": "finite", "fnite": "finite", "final_pas_period": "final_pass_period",
		"buffer_rows_limit": "buffer_row_limit", "colour": "", "x": "", "": "", "p": "", strings.Repeat("period", 50): "",
	} {
		if got := Suggest(word, known); got != want {
			t.Errorf("%q suggests %q, want %q", word, got, want)
		}
	}
	parts := []string{"streams_dependency", "group_by_schema", "processing_function_parameters", "processing_function", "function_x_y"}
	for word, want := range map[string]string{
		"group_by": "group_by_schema", "Group_By": "group_by_schema", "processing": "processing_function", "function": "function_x_y",
		"schema": "group_by_schema", "parameters": "processing_function_parameters", "groups": "group_by_schema", "sch": "", "xs": "", "group_of": "",
	} {
		if got := Suggest(word, parts); got != want {
			t.Errorf("%q suggests %q, want %q", word, got, want)
		}
	}
	if got := Suggest("a", []string{"b", "ab"}); got != "ab" {
		t.Errorf("a suggests %q, want ab", got)
	}
}

func TestPaths(t *testing.T) {
	for want, got := range map[string]string{
		"a":            Join("", "a"),
		"a.b":          Join("a", "b"),
		`a."b.c"`:      Join("a", "b.c"),
		`a.""`:         Join("a", ""),
		"a./state/one": Join("a", "/state/one"),
		"a.NYT::T":     Join("a", "NYT::T"),
		"a[3]":         Index("a", 3),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSplitUndoesJoin(t *testing.T) {
	for _, keys := range [][]string{nil, {"a"}, {"a", "b"}, {"a", "b.c", "d"}, {"", ""}, {`say "x"`, "/state/one", "NYT::T"}, {`"`, "`", "'a'"}} {
		path := Join("", keys...)
		if got := Split(path); !slices.Equal(got, keys) {
			t.Errorf("%s splits into %q, want %q", path, got, keys)
		}
	}
}

func TestAbsentNodes(t *testing.T) {
	var none *Node
	tree := Map(Entry{Key: "a", Value: Entity()}, Entry{Key: "b", Value: Int64(1)})
	if none.Get("a") != nil || none.IsSet() || tree.Get("a").IsSet() || !tree.Get("b").IsSet() || tree.Get("c") != nil || String("").Get("a") != nil {
		t.Fatal("absent nodes are taken for present ones")
	}
	if string(Encode(nil)) != "#" || Kind(99).String() != "unknown" {
		t.Fatal("absent nodes print wrongly")
	}
}
