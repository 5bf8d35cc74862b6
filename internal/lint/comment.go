package lint

import (
	"fmt"
	"regexp"
)

// openEnd finds the words that leave work for later; with an owner in
// brackets the second group is filled.
var openEnd = regexp.MustCompile(`\b(TODO|FIXME|HACK)\b(\([a-z][\w.-]*\):)?`)

// checkTodos wants a name beside everything that is left for later.
func checkTodos(m *Module, r *report) {
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, group := range f.AST.Comments {
				for _, comment := range group.List {
					match := openEnd.FindStringSubmatch(comment.Text)
					if match != nil && match[2] == "" {
						r.at(f, comment.Pos(), match[1]+" without an owner",
							fmt.Sprintf("do it now, or write %s(name): and what is missing", match[1]))
					}
				}
			}
		}
	}
}
