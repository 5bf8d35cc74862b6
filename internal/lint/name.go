package lint

import (
	"fmt"
	"slices"
	"strings"
)

// shelfNames say where something was put, not what it is.
var shelfNames = []string{
	"util", "utils", "common", "base", "types", "helper", "helpers", "manager", "misc", "shared", "lib",
}

// checkNames refuses packages that are shelves.
func checkNames(m *Module, r *report) {
	for _, p := range m.Packages {
		if name := strings.TrimSuffix(p.Name, "_test"); slices.Contains(shelfNames, name) {
			r.at(p.Files[0], p.Files[0].AST.Package, fmt.Sprintf("package %s is named after a shelf", name),
				"name it after the thing it holds, in the singular")
		}
	}
}
