package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/tools/txtar"
)

// thisModule loads the module that the test runs in.
func thisModule(t *testing.T) *Module {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewLoader().Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestThisModuleKeepsEveryRule(t *testing.T) {
	m := thisModule(t)
	if len(m.Packages) < 5 {
		t.Fatalf("only %d packages found, the loader has lost the tree", len(m.Packages))
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, f := range rule.Check(m) {
				t.Error(f)
			}
		})
	}
}

// A table that names what is gone guards nothing.
func TestTablesNameOnlyWhatExists(t *testing.T) {
	m := thisModule(t)
	exists := func(pattern string) bool {
		return slices.ContainsFunc(m.Packages, func(p *Package) bool { return matches(pattern, p.Dir) })
	}
	for _, row := range layers {
		for _, pattern := range append([]string{row.pkg}, row.may...) {
			if !exists(pattern) {
				t.Errorf("layer.go, row %s: there is no package %s", row.pkg, pattern)
			}
		}
	}
	for _, file := range clockFiles {
		if !m.has(strings.TrimSuffix(file, "/")) {
			t.Errorf("clock.go: there is no %s", file)
		}
	}
	for _, h := range homes {
		if !m.imports(h) {
			t.Errorf("module.go: nothing imports %s", h.module)
		}
	}
	for _, pkg := range slices.Concat(purePackages, testPackages) {
		if !exists(pkg) {
			t.Errorf("pure.go or module.go: there is no package %s", pkg)
		}
	}
}

func (m *Module) imports(h home) bool {
	return slices.ContainsFunc(m.Packages, func(p *Package) bool {
		return slices.ContainsFunc(p.Files, func(f *File) bool {
			return slices.ContainsFunc(importsOf(f), func(l importLine) bool {
				found, ok := homeOf(l.path)
				return ok && found.module == h.module
			})
		})
	})
}

// Each transcript is named after its rule. A case is a module as a txtar
// archive; the rule's findings in it follow, "ok" if there are none.
// Placeholders are those of fixture.
func TestRulesFindWhatTheirTranscriptsSay(t *testing.T) {
	loader := NewLoader()
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			found := false
			datadriven.RunTest(t, filepath.Join("testdata", rule.Name), func(t *testing.T, d *datadriven.TestData) string {
				m, err := loader.Load(fixture(d.Input))
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				findings := rule.Check(m)
				found = found || len(findings) > 0
				return printed(findings)
			})
			if !found {
				t.Errorf("no case in testdata/%s breaks the rule, so nothing shows that it works", rule.Name)
			}
		})
	}
}

func TestTranscriptsBelongToRules(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == e.Name() }) {
			t.Errorf("testdata/%s is the transcript of no rule, so nothing runs it", e.Name())
		}
	}
}

// placeholders stand for texts that a fixture, being scanned itself, may not
// spell out.
func placeholders() []string {
	return []string{"<folder>", "/wo" + "rk/", "<home>", "/ho" + "me/ann/", "<beside>", "../sha" + "red"}
}

// fixture turns an archive into a file system with a go.mod. Beside the
// placeholders, <N lines> stands for N empty lines.
func fixture(archive string) fs.FS {
	archive = strings.NewReplacer(placeholders()...).Replace(archive)
	archive = regexp.MustCompile(`<[0-9]+ lines>`).ReplaceAllStringFunc(archive, func(s string) string {
		n, _ := strconv.Atoi(strings.TrimSuffix(s[1:], " lines>"))
		return strings.Repeat("\n", n-1) // the placeholder's own line is the last
	})
	tree := fstest.MapFS{"go.mod": {Data: []byte("module github.com/rondo-flow/rondo\n")}}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return tree
}

func printed(findings []Finding) string {
	if len(findings) == 0 {
		return "ok"
	}
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	back := placeholders()
	slices.Reverse(back)
	return strings.NewReplacer(back...).Replace(b.String())
}
