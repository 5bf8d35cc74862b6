package yson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a YAML text, and of its tree with aliases written out.
const (
	maxYAMLBytes = 4 << 20
	maxYAMLNodes = 1_000_000
)

// parseYAML reads one YAML document: maps, lists, scalars of the core schema,
// anchors, aliases and merge keys. Tags and keys that are no scalars are
// refused.
func parseYAML(data []byte) (node *Node, err error) {
	if err := checkYAMLShape(data); err != nil {
		return nil, err
	}
	// The parser is foreign code and the input hostile: its panics are faults
	// of the text.
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, Problems{{Message: fmt.Sprintf("this YAML cannot be parsed: %v", r)}}
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlProblem(err)
	}
	switch len(file.Docs) {
	case 0:
		return Entity(), nil
	case 1:
		return (&yamlConverter{anchors: map[string]yamlAnchor{}}).value(file.Docs[0].Body)
	default:
		return nil, yamlFault(file.Docs[1], "a second document begins here: only one is allowed")
	}
}

// checkYAMLShape refuses text that the foreign parser would take minutes or
// more stack than there is for. It looks at lines without regard to strings,
// with limits that honest text does not come near.
func checkYAMLShape(data []byte) error {
	const limit = 5 * maxDepth
	if len(data) > maxYAMLBytes {
		return Problems{{Message: fmt.Sprintf("YAML of %d bytes is too long: at most %d, write YSON or JSON", len(data), maxYAMLBytes)}}
	}
	brackets, documents := 0, 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		brackets = max(0, brackets+countAny(line, "[{")-countAny(line, "]}"))
		if bytes.HasPrefix(line, []byte("---")) {
			documents++
		}
		switch at := (Problem{Line: i + 1, Column: 1}); {
		case documents > 1:
			at.Message = "a second document begins here: only one is allowed"
			return Problems{at}
		case brackets > limit:
			at.Message = fmt.Sprintf("nested deeper than %d levels", maxDepth)
			return Problems{at}
		case bytes.Count(line, []byte("- "))+countAny(line, "?&!") > limit:
			at.Message = fmt.Sprintf("more than %d of - ? & ! in one line: break it up", limit)
			return Problems{at}
		}
	}
	return nil
}

// countAny counts the bytes of line that are in set.
func countAny(line []byte, set string) int {
	n := 0
	for i := range set {
		n += bytes.Count(line, []byte(set[i:i+1]))
	}
	return n
}

// yamlAdvice says in our words what the library finds most often.
var yamlAdvice = map[string]string{
	"found character '\t' that cannot start any token":                   "a tab cannot indent YAML: use blanks",
	"could not find flow mapping end token '}'":                          "this bracket is not closed: want '}' before the end of the text",
	"sequence end token ']' not found":                                   "this bracket is not closed: want ']' before the end of the text",
	"could not find '{' character corresponding to '}'":                  "this '}' closes nothing: remove it",
	"could not find '[' character corresponding to ']'":                  "this ']' closes nothing: remove it",
	"value is not allowed in this context. map key-value is pre-defined": "a value stands beside the keys of a map: mend the indentation",
	"value is not allowed in this context":                               "this does not fit what stands before it: mend the indentation",
	"mapping value is not allowed in this context":                       "no key can stand here: mend the indentation, or quote a text with \": \" in it",
	"non-map value is specified":                                         "this is no key: want key: value",
}

func yamlProblem(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return Problems{{Message: err.Error()}}
	}
	p := Problem{Message: e.GetMessage()}
	if advice, ok := yamlAdvice[p.Message]; ok {
		p.Message = advice
	}
	if t := e.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return Problems{p}
}

func yamlFault(n ast.Node, format string, args ...any) error {
	return One(&Node{Pos: yamlPos(n)}, "", format, args...)
}

func yamlPos(n ast.Node) Pos {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Pos{Line: t.Position.Line, Column: t.Position.Column}
	}
	return Pos{}
}
