// Package mutants plants faults, one at a time, and shows that a named test
// catches each: so the tests of the pure machines cannot go blind unseen.
//
// A file under testdata is one fault. Its head says why it is one, which test
// catches it and, where the test runs generated histories, the smallest seed
// that does. What follows are the files to change, each with the text that is
// there, a line of ==== and the text that takes its place:
//
//	why: an answer to a list of a former owner is taken for the outstanding one
//	test: ./visit TestHistories
//	seed: 304
//	-- visit/listed.go --
//	f.list.Token != t
//	====
//	f.list.Token.Seq != t.Seq
//
// Nothing is written into the tree: the changed files reach the compiler
// through go test -overlay.
//
//	go test ./internal/mutants                every fault still applies; one runs
//	go test ./internal/mutants -all           all run, as the gate does it
//	go test ./internal/mutants -find -run Mutants/NAME    looks for the smallest seed
package mutants

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var (
	flagAll  = flag.Bool("all", false, "run every fault, not only the first")
	flagFind = flag.Bool("find", false, "look for the smallest seed that catches each fault that has one")
)

// searched is how many seeds are tried for a fault.
const searched = 20_000

// mutant is one planted fault.
type mutant struct {
	name, why string
	pkg, test string
	args      []string // what the test is run with, beside its seed
	seed      int      // 0: the test takes none
	changes   []change
}

// change is one replacement in a file, by its path from the module's root.
type change struct{ path, old, new string }

// read parses a file under testdata.
func read(path string) (mutant, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return mutant{}, err
	}
	m := mutant{name: strings.TrimSuffix(filepath.Base(path), ".txt")}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "why":
			m.why = value
		case "test":
			words := strings.Fields(value)
			if len(words) < 2 {
				return m, fmt.Errorf("%s: test is %q: say the package and the test's name", path, value)
			}
			m.pkg, m.test, m.args = words[0], words[1], words[2:]
		case "seed":
			if m.seed, err = strconv.Atoi(value); err != nil || m.seed < 1 {
				return m, fmt.Errorf("%s: seed %q is no number above 0", path, value)
			}
		default:
			return m, fmt.Errorf("%s: %q in the head: say why, test and seed", path, line)
		}
	}
	for _, f := range archive.Files {
		before, after, ok := strings.Cut(string(f.Data), "\n====\n")
		if !ok {
			return m, fmt.Errorf("%s: the change of %s has no line of ==== between old and new text", path, f.Name)
		}
		m.changes = append(m.changes, change{f.Name, before, strings.TrimSuffix(after, "\n")})
	}
	if m.why == "" || m.test == "" || len(m.changes) == 0 {
		return m, fmt.Errorf("%s: why, test or the changes are missing", path)
	}
	return m, nil
}

// apply returns the changed files by path. A text that is not there exactly once
// is an error: the fault has to be written anew for the present code.
func (m mutant) apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, c := range m.changes {
		text, ok := files[c.path]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, c.path))
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		if n := strings.Count(text, c.old); n != 1 {
			return nil, fmt.Errorf("mutant %s no longer applies: %s holds this %d times and not once, write the change anew:\n%s", m.name, c.path, n, c.old)
		}
		files[c.path] = strings.Replace(text, c.old, c.new, 1)
	}
	return files, nil
}

// run runs the named test over the changed files and returns what it printed,
// and whether it passed.
func (m mutant) run(root, temp string, seed ...string) (output string, passed bool, err error) {
	files, err := m.apply(root)
	if err != nil {
		return "", false, err
	}
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(temp, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", false, err
		}
		replace[filepath.Join(root, path)] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", false, err
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", false, err
	}
	cmd := exec.Command("go", slices.Concat([]string{"test", "-count=1", "-overlay", list, "-run", "^" + m.test + "$", m.pkg}, m.args, seed)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return "", false, err
	}
	return string(out), err == nil, nil
}

// all reads every mutant, in the order of names.
func all(t *testing.T) (list []mutant) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		m, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestEveryMutantStillApplies(t *testing.T) {
	list := all(t)
	if len(list) < 12 {
		t.Errorf("%d mutants: there were more", len(list))
	}
	for _, m := range list {
		if _, err := m.apply(moduleRoot(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestMutantsAreCaught(t *testing.T) {
	root := moduleRoot(t)
	for i, m := range all(t) {
		if i > 0 && !*flagAll && !*flagFind {
			break
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if *flagFind && m.seed > 0 {
				m.find(t, root)
				return
			}
			m.check(t, root)
		})
	}
}

// check wants the named test to fail, and nothing else to go wrong.
func (m mutant) check(t *testing.T, root string) {
	var seed []string
	if m.seed > 0 {
		seed = []string{"-seeds", "1", "-seed", strconv.Itoa(m.seed)}
	}
	out, passed, err := m.run(root, t.TempDir(), seed...)
	switch {
	case err != nil:
		t.Fatal(err)
	case passed:
		t.Errorf("%s passes although %s; find a test, or another seed with -find", m.test, m.why)
	case !strings.Contains(out, "--- FAIL: "+top(m.test)):
		t.Errorf("the mutant does not get as far as the test:\n%s", out)
	}
}

// top returns the name of the test function.
func top(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

var failedSeed = regexp.MustCompile(`seed (\d+): `)

// find looks for the smallest seed and wants it to be the one on record.
func (m mutant) find(t *testing.T, root string) {
	out, passed, err := m.run(root, t.TempDir(), "-seeds", strconv.Itoa(searched))
	found := failedSeed.FindStringSubmatch(out)
	switch {
	case err != nil:
		t.Fatal(err)
	case passed:
		t.Errorf("no seed up to %d catches it", searched)
	case found == nil:
		t.Errorf("the mutant does not get as far as the test:\n%s", out)
	case found[1] != strconv.Itoa(m.seed):
		t.Errorf("the smallest seed is %s, the record says %d", found[1], m.seed)
	}
}
