package main

import (
	"fmt"
	"go/doc/comment"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// page is the Markdown text so far.
type page struct{ strings.Builder }

func (p *page) print(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// reference returns the whole page for the module in a folder.
func reference(root string) (string, error) {
	specs, err := load(root, "spec")
	if err != nil {
		return "", err
	}
	file := &book{source: specs}
	if err := file.add("", "file"); err != nil {
		return "", err
	}
	if err := file.addIgnored("dynamic_spec.computations.<id>.parameters", "dynamicParameters"); err != nil {
		return "", err
	}
	schemas, err := load(root, "schema")
	if err != nil {
		return "", err
	}
	column := &book{source: schemas, inPlace: true}
	if err := column.add("", "columnNotation"); err != nil {
		return "", err
	}
	var p page
	p.WriteString(head)
	p.file(file.chapters)
	p.schemas(column.chapters[0], schemas)
	p.ignored(file.chapters)
	if err := p.packages(root); err != nil {
		return "", err
	}
	return p.String(), nil
}

const head = `<!-- Written by go generate ./internal/specdoc from the code. Change the comments there. -->

# Specification files

What can stand in the spec of a pipeline: every field with its type, default, range and meaning.

Contents: [values](#values) · [the file](#the-file) · [classes](#classes) · [schemas](#schemas) ·
[expressions](#expressions) · [accepted without effect](#accepted-without-effect) · [connectors](#connectors) ·
[functions](#functions)

## Values

A file is YSON, YAML or JSON, by its extension: ` + "`.yson`, `.yaml`, `.yml`, `.json`" + `. The three hold the same tree. YSON
has no comments, and YAML is the one to write by hand if you want them. Tables have these types:

- **duration**: text such as ` + "`500ms` or `1d12h`" + `, with the units ns, us, ms, s, m, h, d, w; or an integer in milliseconds.
- **size**: an integer, or text with K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024). Any integer may be
  written so.
- **boolean**: ` + "`%true` and `%false`" + ` in YSON, where the bare words are taken too.
- **text**: in YSON, bare words need no quotes. **word**: one of those listed.
- **set**: a list in which nothing stands twice.
- **any value**: what is below it is read by a class or a function.

A field that is left out, or is null (` + "`#`" + ` in YSON), has its default; where none is shown, it is simply not there. Unknown fields,
wrong types and values out of range are refused, all at once, each with its place and its path; ` + "`rondo validate`" + ` does
nothing else. ` + "`<id>`" + ` in a path stands for a name of yours.

`

// file prints the chapters of a specification file.
func (p *page) file(chapters []*chapter) {
	p.print("## The file\n\n")
	for _, c := range chapters {
		if len(c.rows) == 0 {
			continue
		}
		if c.path != "" {
			p.print("### `%s`\n\n", c.path)
		}
		p.prose(c.doc)
		if len(c.also) > 0 {
			p.print("The same stands at `%s`.\n\n", strings.Join(c.also, "`, `"))
		}
		p.unavailableChapter(c)
		p.table(c, "field")
		if c.path == "spec.computations.<id>" {
			p.classes()
		}
	}
}

func (p *page) prose(text string) {
	if text != "" {
		p.print("%s\n\n", text)
	}
}

func (p *page) table(c *chapter, first string) {
	p.print("| %s | type | default | allowed | meaning |\n|---|---|---|---|---|\n", first)
	for _, r := range c.rows {
		p.print("| `%s` | %s | %s | %s | %s |\n", r.path, r.kind, r.standard, r.allowed, r.meaning+unavailableField(joined(c.path, r.path)))
	}
	p.print("\n")
}

// classField is told about in a table of its own.
const classField = "spec.computations.*.computation_class_name"

// unavailableField says what of a field is refused for now.
func unavailableField(path string) string {
	for _, u := range spec.Unavailable() {
		switch {
		case strings.ReplaceAll(u.Path, "*", "<id>") != path:
		case u.Path == classField:
			return " Some are **not available yet**: see [classes](#classes)."
		case u.Partly() && len(u.Words) == 0:
			return " So far only with `" + u.Instead + "`."
		case len(u.Words) > 0:
			return " `" + strings.Join(u.Words, "`, `") + "`: **not available yet.**"
		default:
			return " **Not available yet.**"
		}
	}
	return ""
}

func (p *page) unavailableChapter(c *chapter) {
	for _, u := range spec.Unavailable() {
		if !u.Partly() && strings.HasPrefix(c.path, strings.ReplaceAll(u.Path, "*", "<id>")+".") {
			p.print("**Not available yet**: read and checked, and refused.\n\n")
			return
		}
	}
}

func (p *page) classes() {
	p.print("#### Classes\n\n`computation_class_name` is one of these, by either name.\n\n| class | the same, in full | reads | keyed state: visits and timers | runs |\n|---|---|---|---|---|\n")
	for _, c := range spec.Classes() {
		reads, keyed, runs := "inputs", "", "nothing"
		if c.IsSource() {
			reads = "sources"
		}
		if c.HasKeyedState() {
			keyed = "yes"
		}
		switch {
		case c.IsCompanion():
			runs = "a function in a companion process"
		case c.RunsFunction():
			runs = "`processing_function`"
		}
		if !c.Available() {
			runs += ". **Not available yet.**"
		}
		p.print("| `%s` | `%s` | %s | %s | %s |\n", c, c.LongName(), reads, keyed, runs)
	}
	p.print("\n")
}

func (p *page) schemas(column *chapter, source *source) {
	p.print("## Schemas\n\nA schema is a list of columns; attributes of the list, as tables have them, mean nothing here.\n\n")
	p.table(column, "of a column")
	p.print("### Column types\n\n`%s`; also `bool` for boolean and `yson` for any. A column that is not required may be null.\n\n", strings.Join(schema.TypeNames(), "`, `"))
	_, times, _ := strings.Cut(source.doc, "# Time columns\n\n")
	p.prose(inWords(times, nil))
	p.WriteString("### Expressions\n\nAn expression computes a column of `group_by_schema`, the hash mostly, from the plain columns beside it. It has columns (`[a b]` for\n" +
		"names that are no words), literals `1`, `1u`, `1.5`, `\"text\"`, `true`, `null`, the operators `or`, `and`, `not`, `=`, `!=`, `<`, `<=`, `>`, `>=`, `+`, `-`,\n" +
		"`*`, `/`, `%`, and the functions `" + strings.Join(schema.Functions(), "`, `") + "`. A literal takes the type of the other side if it is exact there;\n" +
		"otherwise int64 and uint64 do not mix.\n\n")
	_, rest, _ := strings.Cut(source.types["Expression"].doc, "\n\n")
	p.prose(inWords(rest, nil))
}

// ignored lists what is known by name only.
func (p *page) ignored(chapters []*chapter) {
	p.print("## Accepted without effect\n\nThese fields are known from the system that specs are written for. They have no meaning here: they are accepted, whatever their value, " +
		"and listed once by `rondo validate`.\n\n| below | fields |\n|---|---|\n")
	for _, c := range chapters {
		if len(c.ignored) == 0 {
			continue
		}
		where := "`" + strings.Join(append([]string{c.path}, c.also...), "`, `") + "`"
		if c.path == "" {
			where = "the file"
		}
		p.print("| %s | `%s` |\n", where, strings.Join(c.ignored, "`, `"))
	}
	p.print("\n")
}

// packages prints the parameters of all connectors, tables and functions.
func (p *page) packages(root string) error {
	p.print("## Connectors\n\nThe `parameters` of sources and sinks.\n\n")
	folders, err := os.ReadDir(filepath.Join(root, "connector"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		if err := p.parameters(root, "connector/"+folder.Name(), 4); err != nil {
			return err
		}
	}
	p.print("## Tables\n\nThe `parameters` of entries of `external_state_managers` and `external_state_joiners`; [tables.md](tables.md) and [external.md](external.md) tell what they are for.\n\n")
	tables, err := load(root, "external")
	if err != nil {
		return err
	}
	if err := p.structs(tables); err != nil {
		return err
	}
	p.print("## Functions\n\nThe `processing_function_parameters` of the built-in functions.\n\n")
	return p.parameters(root, functions, 3)
}

// parameters prints a package's documentation and its parameter structs:
// nothing if it has none.
func (p *page) parameters(root, dir string, level int) error {
	s, err := load(root, dir)
	if err != nil {
		return err
	}
	if len(s.parameterStructs()) == 0 {
		return nil
	}
	if level == 4 {
		p.print("### %s\n\n", filepath.Base(dir))
	}
	p.documentation(s, level)
	return p.structs(s)
}

// structs prints the parameter structs of a package.
func (p *page) structs(s *source) error {
	for _, name := range s.parameterStructs() {
		b := &book{source: s, inPlace: true}
		if err := b.add("", name); err != nil {
			return err
		}
		p.print("#### Parameters of %s\n\n", s.owner(name))
		p.table(b.chapters[0], "parameter")
		if ignored := b.chapters[0].ignored; len(ignored) > 0 {
			p.print("Accepted without effect: `%s`.\n\n", strings.Join(ignored, "`, `"))
		}
	}
	return nil
}

// documentation prints a package comment as Markdown.
func (p *page) documentation(s *source, level int) {
	printer := comment.Printer{
		HeadingLevel: level,
		HeadingID:    func(*comment.Heading) string { return "" },
		DocLinkURL:   func(*comment.DocLink) string { return "" },
	}
	name := filepath.Base(s.dir)
	text := parametersLink.ReplaceAllString(s.doc, "")
	if s.dir == functions {
		_, text, _ = strings.Cut(text, "\n\n") // what the package is to programs
	}
	var parser comment.Parser
	markdown := strings.ReplaceAll(string(printer.Markdown(parser.Parse(text))), `\_`, "_")
	p.print("%s\n", withRules(strings.Replace(markdown, "Package "+name+" ", "`"+name+"` ", 1)))
}

// functions is the package of the built-in functions.
const functions = "function"

// parametersLink points at a struct that is printed below anyway.
var parametersLink = regexp.MustCompile(`\s\(\[\w*Parameters\]\)`)

// parameterStructs are the structs that hold the parameters of something: those
// named so that no other struct holds.
func (s *source) parameterStructs() []string {
	var found []string
	for _, name := range s.order {
		if _, t := s.structOf(s.named(name)); t != nil && strings.HasSuffix(strings.ToLower(name), "parameters") {
			found = append(found, name)
		}
	}
	return slices.DeleteFunc(found, s.isHeld)
}
