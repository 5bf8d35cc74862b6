// Package cases knows the behaviour cases of key-visitor streams, each with a
// setup, steps and one right answer, and checks that every one is the name of a
// subtest: PASS-01 is t.Run("PASS-01 …"). A case that nothing here can answer
// stands in the second table, with the reason. So no case is lost when tests
// are moved or renamed.
package cases

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// answered lists the cases that subtests answer, by area.
var answered = map[string]string{
	"PASS": "01 02 04 05 06 07 08 09 12 13 15",
	"COV":  "01 02 03 04 05 06 07 08 10 12 13 14 17 19",
	"BKT":  "01 02 06 07 08",
	"CAP":  "01 03 04 07 08",
	"NAM":  "01 03 04 05 06",
	"FIN":  "01 04 06 08 09 10 11 12 14 15 17 18 19 20 22 24 25 26 28 30 33",
	"REC":  "02 04 05 06",
	"TS":   "01 03 04 05 06 07 12 13",
	"RATE": "01 05 07 09 11 15 16 17",
	"DIAG": "01 03 06 07 08",
	"JN":   "01 02 03 04 05 06 08 09 10 14 17 19 21 22 24 25 26",
	"PER":  "01 03 05 06 08 09",
	"REB":  "02 04 05 07",
	"VAL":  "01 03 04 06 07 08 09 11 12 13 14 15 16 17",
	"EXT":  "01 02 03 04 05 08",
}

// elsewhere lists the other cases, each with the reason.
var elsewhere = []struct{ area, numbers, reason string }{
	{"TS", "11", "visits on the wire to companions"},
	{"RATE", "12 13", "views of the console"},
	{"REB", "08", "one transaction replaces partitions, so none is interrupted beside its successors"},
}

// caseID is what the name of a case's subtest begins with.
var caseID = regexp.MustCompile(`^(PASS|COV|BKT|CAP|NAM|EXT|JN|FIN|REC|TS|RATE|DIAG|PER|REB|VAL)-[0-9]+\b`)

// expand returns the ids of an area.
func expand(area, numbers string) (ids []string) {
	for _, n := range strings.Fields(numbers) {
		ids = append(ids, area+"-"+n)
	}
	return ids
}

// subtests returns the case ids that names of subtests begin with, and where
// each stands first.
func subtests(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return err
		}
		return scan(filepath.Join(root, path), found)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// scan adds the ids of one file.
func scan(path string, found map[string]string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id := caseOf(n); id != "" && found[id] == "" {
				found[id] = files.Position(n.Pos()).String()
			}
			return true
		})
	}
	return nil
}

// caseOf returns the id in the name of a subtest that runs here, "" if n is
// none.
func caseOf(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Run" {
		return ""
	}
	name := call.Args[0]
	for {
		sum, ok := name.(*ast.BinaryExpr)
		if !ok {
			break
		}
		name = sum.X
	}
	lit, ok := name.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return caseID.FindString(text)
}

func TestEveryCaseIsTheNameOfASubtest(t *testing.T) {
	found := subtests(t)
	known := map[string]bool{}
	for area, numbers := range answered {
		for _, id := range expand(area, numbers) {
			known[id] = true
			if found[id] == "" {
				t.Errorf("no subtest is named %s: write one, its name begins with the id", id)
			}
		}
	}
	for _, e := range elsewhere {
		for _, id := range expand(e.area, e.numbers) {
			if known[id] || e.reason == "" {
				t.Errorf("%s stands in both tables, or without a reason", id)
			}
			known[id] = true
			if found[id] != "" {
				t.Errorf("%s: %s is answered here: move it to the first table", found[id], id)
			}
		}
	}
	for id, at := range found {
		if !known[id] {
			t.Errorf("%s: %s is no case", at, id)
		}
	}
}

// TestNamesOfSubtestsAreFound shows what counts as the name of a case.
func TestNamesOfSubtestsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some_test.go")
	text := `package p
func TestA(t *testing.T) {
	t.Run("COV-01 one", nil)
	t.Run("COV-02 two "+name, nil)
	for _, c := range list { t.Run(c.name, nil) }
	// t.Run("COV-03 three", nil)
	t.Log("COV-04 four")
	t.Run("of COV-05", nil)
	t.Run("COV-061x", nil)
}
func helper(t *testing.T) { t.Run("COV-07 seven", nil) }
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	if err := scan(path, found); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if got := fmt.Sprint(ids); got != "[COV-01 COV-02]" {
		t.Errorf("found %s", got)
	}
}
