//go:build unix

package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDESIGNNamesEveryPackageAndModuleAndIsShort(t *testing.T) {
	design, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(design, []byte("\n")); n > 150 {
		t.Errorf("DESIGN.md has %d lines, want at most 150", n)
	}
	for _, name := range slices.Concat(packages(t), modules(t)) {
		if !bytes.Contains(design, []byte("`"+name+"`")) {
			t.Errorf("DESIGN.md does not name `%s`", name)
		}
	}
}

// packages are the folders with sources in Go, examples apart.
func packages(t *testing.T) (all []string) {
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		dir, _ := filepath.Rel("..", filepath.Dir(path))
		ours := filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(dir, "examples")
		if ours && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("found %d packages, error %v", len(all), err)
	}
	return all
}

// modules are those that go.mod requires directly, without their host if that is
// github.com.
func modules(t *testing.T) (all []string) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "require (\n")
	list, _, _ = strings.Cut(list, ")")
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) == 2 {
			all = append(all, strings.TrimPrefix(words[0], "github.com/"))
		}
	}
	if len(all) < 10 {
		t.Fatalf("found %d modules in go.mod", len(all))
	}
	return all
}
