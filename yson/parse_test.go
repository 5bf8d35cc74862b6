package yson

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

// The commands of the scripts in testdata/parse.
var scriptFormats = map[string]Format{
	"yson": YSON, "json": JSON, "yaml": YAML, "binary": YSON, "list": YSONListFragment, "map": YSONMapFragment,
}

// scriptInput is the data that a script means: where it is binary, \x00 is a
// byte.
func scriptInput(d *datadriven.TestData) []byte {
	if d.Cmd != "binary" {
		return []byte(d.Input)
	}
	return regexp.MustCompile(`\\x[0-9a-f]{2}`).ReplaceAllFunc([]byte(d.Input), func(escape []byte) []byte {
		b, _ := hex.DecodeString(string(escape[2:]))
		return b
	})
}

// TestParse runs the scripts in testdata/parse. The command is the notation;
// the answer is the tree with places, or the problem.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			node, err := Parse(scriptInput(d), scriptFormats[d.Cmd])
			if err != nil {
				return err.Error() + "\n"
			}
			return show(node)
		})
	})
}

// TestEncode runs the scripts in testdata/encode: YSON text in, canonical and
// pretty text out.
func TestEncode(t *testing.T) {
	datadriven.Walk(t, "testdata/encode", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			node, err := Parse([]byte(d.Input), YSON)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return string(Encode(node)) + "\n" + string(EncodePretty(node)) + fmt.Sprintf("%q\n", EncodeBinary(node))
		})
	})
}

func TestEncodedTreesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := genTree(3).Draw(t, "tree")
		for _, text := range [][]byte{Encode(tree), EncodePretty(tree), EncodeBinary(tree)} {
			again, err := Parse(text, YSON)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if !equal(tree, again) {
				t.Fatalf("%s comes back as\n%s", text, show(again))
			}
		}
	})
}

func TestCanonicalTextDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := Map(genEntries(t, 2)...)
		turned := Map(rapid.Permutation(tree.Map).Draw(t, "order")...)
		for _, encode := range []func(*Node) []byte{Encode, EncodePretty, EncodeBinary} {
			if a, b := encode(tree), encode(turned); !bytes.Equal(a, b) {
				t.Fatalf("%q\n%q", a, b)
			}
		}
	})
}

// TestNotationsAgree reads one configuration in three notations.
func TestNotationsAgree(t *testing.T) {
	var texts []string
	for _, name := range []string{"same.yson", "same.yaml", "same.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		format, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		node, err := Parse(data, format)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		marked, err := Parse(append([]byte("\xef\xbb\xbf"), data...), format)
		if err != nil || !bytes.Equal(Encode(marked), Encode(node)) {
			t.Errorf("%s behind a byte order mark: error %v", name, err)
		}
		texts = append(texts, string(Encode(node)))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Fatalf("the notations differ:\n%s", strings.Join(texts, "\n"))
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"a.yson": YSON, "b/c.YAML": YAML, "c.yml": YAML, "d.json": JSON} {
		if got, err := FormatOf(path); err != nil || got != want {
			t.Errorf("%s is %v, %v", path, got, err)
		}
	}
	_, err := FormatOf("spec.txt")
	if err == nil || err.Error() != `the extension ".txt" is none of .yson, .yaml, .yml, .json: rename the file` {
		t.Errorf("got %v", err)
	}
	if _, err := Parse(nil, 0); err == nil {
		t.Error("the zero format is read")
	}
}

// TestDeepTextIsRefused goes far beyond what a stack would hold.
func TestDeepTextIsRefused(t *testing.T) {
	const n = 1_000_000
	for name, tc := range map[string]struct {
		text   string
		format Format
	}{
		"binary maps":     {strings.Repeat("{\x01\x02a=", n), YSON},
		"list fragment":   {strings.Repeat("[", n), YSONListFragment},
		"map fragment":    {strings.Repeat("a={", n), YSONMapFragment},
		"yson lists":      {strings.Repeat("[", n), YSON},
		"yson maps":       {strings.Repeat("{a=", n), YSON},
		"yson attributes": {strings.Repeat("<a=", n), YSON},
		"json lists":      {strings.Repeat("[", n), JSON},
		"json maps":       {strings.Repeat(`{"a":`, n), JSON},
		"yaml lists":      {strings.Repeat("[", n), YAML},
		"yaml flow lines": {strings.Repeat("[\n", n), YAML},
		"yaml lists 900":  {strings.Repeat("[", 900) + strings.Repeat("]", 900), YAML},
		"yaml dashes 900": {strings.Repeat("- ", 900) + "x", YAML},
	} {
		if _, err := Parse([]byte(tc.text), tc.format); err == nil || !strings.Contains(err.Error(), "nested deeper than 200 levels") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestHostileYAMLIsRefusedEarly has texts that the YAML library takes minutes
// or gigabytes for.
func TestHostileYAMLIsRefusedEarly(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		prev, name := "*a"+string(rune('0'+i-1)), string(rune('0'+i))
		bomb += "a" + name + ": &a" + name + " [" + strings.Repeat(prev+", ", 9) + prev + "]\n"
	}
	for want, text := range map[string]string{
		"aliases written out":          bomb,
		"break it up":                  strings.Repeat("&a ", 300_000) + "x",
		"a second document":            strings.Repeat("---\na\n", 100_000),
		"is too long":                  strings.Repeat("# comment\n", 500_000),
		"more than 1000 of - ? & ! in": strings.Repeat("!a ", 300_000),
	} {
		if _, err := Parse([]byte(text), YAML); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200v, want %q", err, want)
		}
	}
}

// fuzzParse parses any data in one notation: a problem with a place, or a tree
// that all its encodings give back. The seeds are the inputs of all scripts.
func fuzzParse(f *testing.F, format Format) {
	for _, name := range []string{"same.yson", "same.yaml", "same.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	scripts, err := filepath.Glob("testdata/parse/*")
	if err != nil || len(scripts) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		datadriven.RunTestAny(f, path, func(_ testing.TB, d *datadriven.TestData) string {
			f.Add(scriptInput(d))
			return d.Expected
		})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		node, err := Parse(data, format)
		if err != nil {
			isPlaced(t, data, err)
			return
		}
		encodesBack(t, node)
	})
}

// isPlaced fails unless err is one problem inside of the data or at its end.
// In YAML, \r ends lines too.
func isPlaced(t *testing.T, data []byte, err error) {
	var ps Problems
	lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 1
	if !errors.As(err, &ps) || len(ps) != 1 || ps[0].Message == "" || ps[0].Column > len(data)+1 || ps[0].Line > lines {
		t.Fatalf("%#v", err)
	}
}

// encodesBack fails unless each canonical form of a tree is the same tree.
func encodesBack(t *testing.T, node *Node) {
	text := Encode(node)
	for _, encoded := range [][]byte{text, EncodePretty(node), EncodeBinary(node)} {
		again, err := Parse(encoded, YSON)
		if err != nil {
			t.Fatalf("%q: %v", encoded, err)
		}
		if !bytes.Equal(text, Encode(again)) {
			t.Fatalf("%q comes back as %s", encoded, Encode(again))
		}
	}
	if exact, err := Parse(EncodeBinary(node), YSON); err != nil || !bytes.Equal(EncodeBinary(exact), EncodeBinary(node)) {
		t.Fatalf("%q is not exact: %v", EncodeBinary(node), err)
	}
}

func FuzzYSON(f *testing.F)         { fuzzParse(f, YSON) }
func FuzzListFragment(f *testing.F) { fuzzParse(f, YSONListFragment) }
func FuzzMapFragment(f *testing.F)  { fuzzParse(f, YSONMapFragment) }
func FuzzJSON(f *testing.F)         { fuzzParse(f, JSON) }
func FuzzYAML(f *testing.F)         { fuzzParse(f, YAML) }

func BenchmarkParseYSON(b *testing.B) {
	data, err := os.ReadFile("testdata/same.yson")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, YSON); err != nil {
			b.Fatal(err)
		}
	}
}
