//go:build unix

package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/spec"
)

// The tables of visits.md are compared with the code, so that neither has what
// the other has not.

// section returns the lines of a document below a heading.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	level, _, _ := strings.Cut(heading, " ")
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", document, heading)
	}
	below, _, _ = strings.Cut(below, "\n"+level+" ")
	return below
}

// rows are the rows of tables in Markdown whose first cell begins with code.
func rows(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all = append(all, cells)
		}
	}
	return all
}

// code are the pieces of code in a cell.
func code(cell string) (all []string) {
	for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

func sameSet(t *testing.T, what string, said, is []string) {
	t.Helper()
	slices.Sort(said)
	slices.Sort(is)
	if !slices.Equal(said, is) {
		t.Errorf("%s: visits.md has\n%q, the code has\n%q", what, said, is)
	}
}

// spec.md is written from the code.
func TestTheParametersOfVisitsAreThoseOfTheReference(t *testing.T) {
	var want []string
	for _, heading := range []string{
		"### `spec.computations.<id>.key_visitor_streams.<id>`",
		"### `dynamic_spec.computations.<id>.key_visitor_streams.<id>`",
	} {
		for _, row := range rows(section(t, "spec.md", heading)) {
			want = append(want, strings.Join(row[:4], " | "))
		}
	}
	var got []string
	for _, row := range rows(section(t, "visits.md", "## Parameters")) {
		got = append(got, strings.Join(row[:4], " | "))
		if row[4] == "" {
			t.Errorf("%s has no advice", row[0])
		}
	}
	if len(want) < 18 || !slices.Equal(got, want) {
		t.Errorf("visits.md has\n%s\n\nspec.md has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheClassesWithVisitsAreThoseWithKeyedState(t *testing.T) {
	want := map[string]bool{}
	for _, class := range spec.Classes() {
		want[class.String()] = class.HasKeyedState()
	}
	got := map[string]bool{}
	for _, row := range rows(section(t, "visits.md", "## Where there are visits")) {
		for _, class := range code(row[0]) {
			got[class] = strings.HasPrefix(row[1], "yes")
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("visits.md has %v, the code %v", got, want)
	}
}

func TestTheStatesOfAStreamAreThoseOfTheCode(t *testing.T) {
	var said, is []string
	for _, row := range rows(section(t, "visits.md", "## What the status says")) {
		if len(row) == 2 {
			said = append(said, code(row[0])...)
		}
	}
	ast.Inspect(function(t, "../console", "stateName"), func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			is = append(is, textOf(r.Results[0]))
		}
		return true
	})
	sameSet(t, "states", said, is)
}

func TestThePathsOfProblemsAreThoseOfTheCode(t *testing.T) {
	var said []string
	for _, row := range rows(section(t, "visits.md", "## What the status says")) {
		if len(row) == 4 {
			said = append(said, code(row[0])...)
		}
	}
	is := map[string]bool{}
	for _, dir := range []string{"../engine", "../visit"} {
		for _, f := range files(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				if sum, ok := n.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
					if path := problemPath(joined(sum)); path != "" {
						is[path] = true
					}
					return false
				}
				return true
			})
		}
	}
	// These end with what they are called with.
	ast.Inspect(function(t, "../visit", "problems"), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && fmt.Sprint(call.Fun) == "add" {
			is["/key_visitor/<stream>/"+textOf(call.Args[0])] = true
		}
		return true
	})
	sameSet(t, "paths", said, slices.Collect(maps.Keys(is)))
}

// problemPath returns a path of a problem as the document writes it, empty if the
// text is none: paths end with a word.
func problemPath(text string) string {
	text = strings.TrimPrefix(text, "/computations/<stream>")
	text = strings.TrimPrefix(text, "<stream>")
	if !regexp.MustCompile(`^(/[a-z_]+|/<stream>)*/[a-z_]+$`).MatchString(text) {
		return ""
	}
	return text
}

// joined is a sum of texts, with <stream> for what is not a literal.
func joined(e ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return joined(sum.X) + joined(sum.Y)
	}
	if text := textOf(e); text != "" {
		return text
	}
	return "<stream>"
}

func textOf(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value) // it was parsed
	return text
}

// files are the sources of a package, without its tests.
func files(t *testing.T, dir string) (all []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// function returns the function or method with a name.
func function(t *testing.T, dir, name string) *ast.FuncDecl {
	t.Helper()
	for _, f := range files(t, dir) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
				return fn
			}
		}
	}
	t.Fatalf("%s has no function %s", dir, name)
	return nil
}

// graph is a spec around the fields of a snippet.
const graph = `{spec = {
  "streams" = {
    "keys" = {"schema" = [{name=key;type=string}]}; "visits" = {"schema" = [{name=key;type=string}]};
    "requests" = {"schema" = [{name=key;type=string}]}; "responses" = {"schema" = [{name=key;type=string}]}};
  "computations" = {
    "reader" = {"computation_class_name" = "source_passthrough"; "output_stream_ids" = ["keys"];
      "source_streams" = {"file" = {"source_class_name" = "file"}}};
    "pinger" = {"computation_class_name" = "transform"; "processing_function" = "ping";
      "group_by_schema" = [{name=hash;type=uint64;expression="farm_hash(key)"}; {name=key;type=string}];
      "input_stream_ids" = ["requests"]; "output_stream_ids" = ["responses"]};
    "tester" = {"computation_class_name" = "transform"; "processing_function" = "tester";
      "group_by_schema" = [{name=hash;type=uint64;expression="farm_hash(key)"}; {name=key;type=string}];
      %s}}}}`

// asked is the part of the graph that only a loop has.
var asked = regexp.MustCompile(`(?s)    "pinger" = .*?\};\n`)

func TestTheSnippetsOfVisitsAreWholeSpecs(t *testing.T) {
	var snippets []block
	for _, b := range blocks(t, "visits.md") {
		if b.info == "yson fields" {
			snippets = append(snippets, b)
		}
	}
	if len(snippets) != 3 {
		t.Fatalf("%d snippets", len(snippets))
	}
	for i, fields := range []string{
		`"input_stream_ids" = ["keys"]; ` + snippets[0].text,
		`"input_stream_ids" = ["keys"]; "output_stream_ids" = ["visits"]; ` + snippets[1].text,
		snippets[2].text,
	} {
		text := graph
		if i < 2 {
			text = asked.ReplaceAllString(text, "")
		}
		s, err := spec.Parse("snippet.yson", fmt.Appendf(nil, text, fields))
		if err != nil {
			t.Errorf("line %d: %v", snippets[i].line, err)
			continue
		}
		if v := s.Pipeline.Computations["tester"].VisitStreams["visit_iter"]; v == nil || !slices.Equal(v.Upstream, []string{"keys"}) {
			t.Errorf("line %d: the visit stream is %+v", snippets[i].line, v)
		}
	}
	loop, last, _ := strings.Cut(snippets[2].text, `"streams_dependency"`)
	_, err := spec.Parse("snippet.yson", fmt.Appendf(nil, graph, loop))
	proposed := strings.TrimSuffix(`"streams_dependency"`+last, ";\n")
	if err == nil || !strings.HasSuffix(strings.TrimSpace(err.Error()), proposed) {
		t.Errorf("without its last line the loop gives %v, want it to end with %s", err, proposed)
	}
}
