package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestStructsAreRead runs the scripts in testdata/structs: Go source in, out
// come the parameter structs with their rows, or what cannot be described.
func TestStructsAreRead(t *testing.T) {
	datadriven.RunTest(t, "testdata/structs", func(t *testing.T, d *datadriven.TestData) string {
		tree := t.TempDir()
		if err := os.Mkdir(filepath.Join(tree, "fixture"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, "fixture", "x.go"), []byte("package fixture\n"+d.Input), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := load(tree, "fixture")
		if err != nil {
			return strings.ReplaceAll(err.Error(), tree, "") + "\n"
		}
		var out strings.Builder
		for _, name := range s.parameterStructs() {
			b := &book{source: s, inPlace: !d.HasArg("chapters")}
			if err := b.add("", name); err != nil {
				return err.Error() + "\n"
			}
			fmt.Fprintf(&out, "parameters of %s\n", s.owner(name))
			for _, c := range b.chapters {
				out.WriteString(show(c))
			}
		}
		return out.String()
	})
}

func show(c *chapter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "chapter %q, also %q: %s\n", c.path, c.also, c.doc)
	for _, r := range c.rows {
		fmt.Fprintf(&b, "  %s | %s | %s | %s | %s\n", r.path, r.kind, r.standard, r.allowed, r.meaning)
	}
	if len(c.ignored) > 0 {
		fmt.Fprintf(&b, "  ignored %q\n", c.ignored)
	}
	return b.String()
}
