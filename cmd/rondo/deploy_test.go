package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/rondo-flow/rondo/yson"
)

// parses tells whether a command line is one that rondo takes, where RONDO_STORE is
// set.
func parses(t *testing.T, where string, args []string) {
	t.Helper()
	t.Setenv("RONDO_STORE", "postgres://rondo@db/flows")
	parser, err := kong.New(&cli{}, kong.Name("rondo"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("%s: rondo %s: %v", where, strings.Join(args, " "), err)
	}
}

const deployed = "../../examples/cluster"

// TestUnitsOfSystemdRunCommandsThatThereAre.
func TestUnitsOfSystemdRunCommandsThatThereAre(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(deployed, "*.service"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no units: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		section, commands := "", 0
		for _, line := range strings.Split(string(text), "\n") {
			key, value, assigned := strings.Cut(line, "=")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "["):
				section = line
			case !assigned || section == "":
				t.Errorf("%s: a line that systemd does not take: %s", name, line)
			case key == "ExecStart":
				args, rondo := strings.CutPrefix(value, "/usr/local/bin/rondo ")
				if commands++; !rondo {
					t.Errorf("%s runs %s", name, value)
				}
				parses(t, name, strings.Fields(strings.ReplaceAll(args, "%i", "flights")))
			}
		}
		if commands == 0 {
			t.Errorf("%s runs nothing", name)
		}
	}
}

// TestTheComposeFileRunsCommandsThatThereAre, with files that there are.
func TestTheComposeFileRunsCommandsThatThereAre(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(deployed, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := yson.Parse(text, yson.YAML)
	if err != nil {
		t.Fatal(err)
	}
	services := root.Get("services")
	for _, name := range []string{"migrate", "submit", "worker"} {
		s := services.Get(name)
		var args []string
		for _, a := range s.Get("command").List {
			args = append(args, a.Text)
		}
		parses(t, name, args)
		for _, on := range s.Get("depends_on").Map {
			if !services.Get(on.Key).IsSet() {
				t.Errorf("%s depends on %s, which there is not", name, on.Key)
			}
		}
		if v := s.Get("volumes"); v.IsSet() {
			from, _, _ := strings.Cut(v.List[0].Text, ":")
			if _, err := os.Stat(filepath.Join(deployed, from, "pipeline.yson")); err != nil {
				t.Errorf("%s mounts %s: %v", name, from, err)
			}
		}
		if _, err := os.Stat(filepath.Join(deployed, s.Get("build").Get("context").Text, s.Get("build").Get("dockerfile").Text)); err != nil {
			t.Errorf("%s is built from: %v", name, err)
		}
	}
}
