package fieldreport

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seed is what random choices of all scenarios come from.
var seed = flag.Uint64("seed", 1, "what random choices come from; a failure that depends on them prints it")

// long has some scenarios at their full size.
var long = flag.Bool("long", false, "play with a million keys where the default is fewer")

// size is a number of keys, or the full one.
func size(short, full uint64) uint64 {
	if *long {
		return full
	}
	return short
}

// play runs a scenario in virtual time, beside others.
func play(t *testing.T, scenario func(t *testing.T)) {
	t.Parallel()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("rerun: go test ./internal/fieldreport -run '^%s$' -seed %d", t.Name(), *seed)
		}
	})
	synctest.Test(t, scenario)
}

// alone is play for scenarios that count goroutines or bytes.
func alone(t *testing.T, scenario func(t *testing.T)) { synctest.Test(t, scenario) }

// scenarios are the numbers of all that are played.
var scenarios = []string{
	"R01", "R02", "R05", "R07", "R08", "R09", "R10", "R11", "R12", "R13", "R15", "R16", "R17", "R18", "R19",
	"R21", "R23", "R24", "R25", "R27", "R28", "R29", "R31", "R33", "R34", "R35", "R36", "R37", "R39", "R40",
	"R42", "R44", "R45", "R47", "R49", "R51", "R52", "R55", "R56", "R59", "R60", "R61", "R63", "R64", "R65",
}

func TestEveryScenarioHasATest(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`^Test(R\d\d)`)
	played := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if m := number.FindStringSubmatch(fn.Name.Name); m != nil {
					played[m[1]] = true
				}
			}
		}
	}
	for _, id := range scenarios {
		if !played[id] {
			t.Errorf("no test is named Test%s…", id)
		}
	}
}
