package main

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A flag that is given and empty, as by a shell variable that is not set, is never
// taken for one that was left out: whatever flag of whatever command it is.
func TestAnEmptyFlagIsRefusedByName(t *testing.T) {
	t.Setenv("RONDO_STORE", "postgres://nobody@127.0.0.1:1/none")
	t.Chdir(t.TempDir())
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, command := range parser.Model.Leaves(false) {
		for _, f := range command.Flags {
			if f.Target.Kind() != reflect.String && f.Target.Type() != reflect.TypeFor[[]string]() || f.Enum != "" {
				continue
			}
			tried++
			line := append(strings.Fields(strings.ReplaceAll(command.Path(), " (start)", "")), "--"+f.Name, "")
			for _, other := range command.Flags {
				if other.Required && other != f {
					line = append(line, "--"+other.Name, "x")
				}
			}
			for range slices.DeleteFunc(slices.Clone(command.Positional), func(p *kong.Positional) bool { return !p.Required }) {
				line = append(line, "x.yson")
			}
			if code, said := said(t, line); code != exitUsage || !strings.HasPrefix(said, fmt.Sprintf("rondo: --%s is empty, ", f.Name)) {
				t.Errorf("%q exits %d and says %s", line, code, said)
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d flags were tried: is the model another one?", tried)
	}
}

// An empty variable of the environment is none: what needs it says that it is missing.
func TestAnEmptyVariableIsNoStore(t *testing.T) {
	t.Setenv("RONDO_STORE", "")
	t.Chdir(t.TempDir())
	for _, line := range []string{"migrate status", "submit x.yson", "worker"} {
		if code, said := said(t, strings.Fields(line)); code != exitUsage || !strings.HasPrefix(said, "rondo: missing flags: --store=URL") {
			t.Errorf("%s exits %d and says %s", line, code, said)
		}
	}
	for _, line := range [][]string{{"run", ""}, {"validate", ""}, {"status", ""}, {"submit", "", "--store", "x"}} {
		if code, said := said(t, line); code != exitUsage || !strings.Contains(said, "spec file") {
			t.Errorf("%q exits %d and says %s", line, code, said)
		}
	}
}

// said runs a command line and returns its exit code and what it wrote on stderr.
func said(t *testing.T, line []string) (code int, text string) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code = execute(line, &bytes.Buffer{}, f)
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(b)
}
