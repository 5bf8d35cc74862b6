package main

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// row is one line of a table.
type row struct{ path, kind, standard, allowed, meaning string }

// chapter is a struct of a package: what stands at one path, or at several.
type chapter struct {
	path     string // with <id> for any id
	also     []string
	typeName string
	doc      string
	rows     []row
	ignored  []string // paths below path that have no effect
}

// book collects chapters. A map of structs begins a chapter of its own, or is
// told in place.
type book struct {
	source   *source
	inPlace  bool
	chapters []*chapter
}

// add makes the chapter of a struct type, and those below it. A struct that
// has one is told once.
func (b *book) add(path, typeName string) error {
	if told := b.chapterOf(typeName); told != nil {
		told.also = append(told.also, path)
		return nil
	}
	c := &chapter{path: path, typeName: typeName}
	b.chapters = append(b.chapters, c)
	name, t := b.source.structOf(b.source.named(typeName))
	return b.tell(c, "", name, t, nil)
}

// chapterOf returns the chapter of a struct type, nil if there is none yet.
func (b *book) chapterOf(typeName string) *chapter {
	i := slices.IndexFunc(b.chapters, func(c *chapter) bool { return c.typeName == typeName })
	if i < 0 {
		return nil
	}
	return b.chapters[i]
}

// addIgnored makes a chapter of what a struct knows by name only.
func (b *book) addIgnored(path, typeName string) error {
	_, t := b.source.structOf(b.source.named(typeName))
	all, err := b.source.fieldsOf(typeName, t, nil)
	b.chapters = append(b.chapters, &chapter{path: path, typeName: typeName, ignored: all.ignored})
	return err
}

// tell adds the fields of a struct at a path below the chapter's.
func (b *book) tell(c *chapter, below string, name string, t *ast.StructType, given map[string]ast.Expr) error {
	all, err := b.source.fieldsOf(name, t, given)
	if err != nil {
		return err
	}
	for _, ignored := range all.ignored {
		c.ignored = append(c.ignored, joined(below, ignored))
	}
	meant := names(all.fields)
	if c.doc == "" {
		c.doc = intro(b.source.types[c.typeName].doc, c.typeName, meant)
	}
	for i := range all.fields {
		if err := b.tellField(c, below, &all.fields[i], all.defaults, meant); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) tellField(c *chapter, path string, f *field, defaults map[string]ast.Expr, meant map[string]string) error {
	path = joined(path, f.names[0])
	k, err := b.source.kindOf(f, f.typ)
	if err != nil {
		return err
	}
	standard, err := b.standard(f, k, defaults[f.goName])
	if err != nil {
		return err
	}
	r := row{path: path, kind: k.words, standard: standard, allowed: allowed(f), meaning: meaning(f, meant)}
	if at := b.elsewhere(f, joined(c.path, path)); at != "" {
		r.kind = "[" + r.kind + "](#" + anchor(at) + ")"
	}
	c.rows = append(c.rows, r)
	return b.tellInside(c, path, f, below(defaults, f.goName))
}

// tellInside goes on with the struct in a field, or in the elements of one.
func (b *book) tellInside(c *chapter, path string, f *field, given map[string]ast.Expr) error {
	switch t := f.typ.(type) {
	case *ast.MapType:
		name, st := b.source.structOf(t.Value)
		switch {
		case st == nil:
			return nil
		case b.inPlace:
			return b.tell(c, path+".<id>", name, st, nil)
		default:
			return b.add(joined(c.path, path)+".<id>", name)
		}
	case *ast.ArrayType:
		if name, st := b.source.structOf(t.Elt); st != nil {
			return b.tell(c, path+"[]", name, st, nil)
		}
	default:
		if name, st := b.source.structOf(f.typ); st != nil {
			return b.tell(c, path, name, st, given)
		}
	}
	return nil
}

// elsewhere returns the path of the chapter that tells about the elements of a
// field, empty if they are told in place.
func (b *book) elsewhere(f *field, path string) string {
	t, ok := f.typ.(*ast.MapType)
	if !ok || b.inPlace {
		return ""
	}
	name, st := b.source.structOf(t.Value)
	switch told := b.chapterOf(name); {
	case st == nil:
		return ""
	case told != nil:
		return told.path
	default:
		return path + ".<id>"
	}
}

// anchor is the name that Markdown gives to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>.`", r) {
			return -1
		}
		return r
	}, strings.ToLower(heading))
}

// joined is yson.Join for paths whose parts may be <id>.
func joined(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (b *book) standard(f *field, k kind, value ast.Expr) (string, error) {
	switch {
	case f.required:
		return "required", nil
	case value == nil && k.zero != "":
		return "`" + k.zero + "`", nil
	case value == nil:
		return "", nil
	}
	v, err := b.source.evaluate(value)
	if err != nil {
		return "", err
	}
	return "`" + k.print(v) + "`", nil
}

// allowed prints the words or the range of a field.
func allowed(f *field) string {
	if f.words != "" {
		return "`" + strings.Join(strings.Fields(f.words), "`, `") + "`"
	}
	bounds := strings.FieldsFunc(f.rules, func(r rune) bool { return r == ',' })
	for i, bound := range bounds {
		number := strings.TrimLeft(bound, "<>=")
		bounds[i] = strings.NewReplacer("<=", "≤", ">=", "≥").Replace(bound[:len(bound)-len(number)]) + " " + number
	}
	return strings.Join(bounds, ", ")
}

// names maps the Go names of fields to those in specs.
func names(fields []field) map[string]string {
	all := map[string]string{}
	for _, f := range fields {
		all[f.goName] = f.names[0]
	}
	return all
}

// meaning is a field's comment, with its other names.
func meaning(f *field, meant map[string]string) string {
	text := inWords(f.comment, meant)
	for _, verb := range []string{" is ", " are "} { // whatever it is stands in the first column
		text = strings.TrimPrefix(text, "`"+f.names[0]+"`"+verb)
	}
	text = sentence(text)
	if len(f.names) > 1 {
		text = strings.TrimSpace(text + " Also `" + strings.Join(f.names[1:], "`, `") + "`.")
	}
	return text
}

// sentence begins with a capital and ends in a stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// intro is the first paragraph of a struct's comment, which begins with its Go
// name.
func intro(doc, typeName string, meant map[string]string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(doc), "\n\n")
	if rest, ok := strings.CutPrefix(text, typeName+" are "); ok {
		text = "These are " + rest
	} else if rest, ok := strings.CutPrefix(text, typeName+" "); ok {
		text = "This " + rest
	}
	return inWords(text, meant)
}

var (
	ruleNumber = regexp.MustCompile(`\b(KV|D)-([0-9]+)\b`)
	docLink    = regexp.MustCompile(`\[([A-Za-z.]+)\]`)
)

// inWords turns a comment into one line of Markdown: fields by the names they
// have in specs, rules as links.
func inWords(comment string, meant map[string]string) string {
	text := strings.Join(strings.Fields(comment), " ")
	text = withRules(docLink.ReplaceAllString(text, "$1"))
	for _, name := range slices.Sorted(maps.Keys(meant)) {
		text = regexp.MustCompile(`(^|[^\w`+"`"+`.\[])`+name+`\b`).ReplaceAllString(text, "$1`"+meant[name]+"`")
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// withRules makes a link of each number of a rule.
func withRules(text string) string {
	return ruleNumber.ReplaceAllStringFunc(text, func(rule string) string {
		return "[" + rule + "](rules.md#" + strings.ToLower(rule) + ")"
	})
}
