package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// machinePath finds what exists only where somebody once worked: absolute
// paths of a home or work folder, and a folder beside the project. The text
// is put together so that this file does not find itself.
var machinePath = regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:])/(?:wo` + `rk|ro` + `ot|home/\w+)/|\.\./sha` + `red\b`)

// checkMachineText keeps the paths of one machine out of the project.
func checkMachineText(m *Module, r *report) {
	for _, t := range m.Texts {
		eachMatch(t.Data, machinePath, func(line int, match [][]byte) {
			r.line(t.Path, line, fmt.Sprintf("speaks of %s", bytes.TrimLeft(match[0], " \t\n\"'`(=:")), "write a path inside the project, or the thing's name")
		})
	}
}

var (
	citation    = regexp.MustCompile(`\b(?:KV|D)-[0-9]+\b`)
	ruleHeading = regexp.MustCompile(`(?m)^#+ ((?:KV|D)-[0-9]+)$`)
	fileLink    = regexp.MustCompile(`\]\(([^)\s#:]+)(?:#[^)\s]*)?\)`)
)

// rulesPath is where every rule number resolves.
const rulesPath = "docs/rules.md"

// checkReferences makes rule numbers and links between documents resolve.
func checkReferences(m *Module, r *report) {
	known := map[string]bool{}
	for _, t := range m.Texts {
		if t.Path == rulesPath {
			eachMatch(t.Data, ruleHeading, func(line int, match [][]byte) {
				if known[string(match[1])] {
					r.line(t.Path, line, fmt.Sprintf("rule %s has two headings", match[1]), "keep one home for each rule")
				}
				known[string(match[1])] = true
			})
		}
	}
	for _, t := range m.Texts {
		checkReferencesIn(m, r, t, known)
	}
}

func checkReferencesIn(m *Module, r *report, t Text, known map[string]bool) {
	ext := path.Ext(t.Path)
	if ext == ".go" || ext == ".md" {
		eachMatch(t.Data, citation, func(line int, match [][]byte) {
			if rule := string(match[0]); !known[rule] {
				r.line(t.Path, line, rule+" is no rule", "cite one that has a heading in "+rulesPath)
			}
		})
	}
	if ext != ".md" {
		return
	}
	eachMatch(t.Data, fileLink, func(line int, match [][]byte) {
		target := path.Join(path.Dir(t.Path), string(match[1]))
		if !m.has(target) {
			r.line(t.Path, line, "links to "+target+", which is not there", "mend the link")
		}
	})
}

// has says whether the tree holds a text file or a folder of that name.
func (m *Module) has(name string) bool {
	return fs.ValidPath(name) && slices.ContainsFunc(m.Texts, func(t Text) bool {
		return t.Path == name || strings.HasPrefix(t.Path, name+"/")
	})
}

// eachMatch calls f with the line and the groups of every match.
func eachMatch(data []byte, pattern *regexp.Regexp, f func(line int, match [][]byte)) {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		for _, match := range pattern.FindAllSubmatch(bytes.TrimRight(text, "\n"), -1) {
			f(line, match)
		}
	}
}
