package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sessions": main})
}

func TestTheProgramFindsExactlyTheSessionsOfAPlainLoop(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			return os.CopyFS(filepath.Join(env.WorkDir, "examples", "sessions"), os.DirFS("."))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"killed": killed, "unthrottle": unthrottle, "expected": expected,
		},
	})
}

// killed PATTERN COMMAND... runs a command, and kills it with SIGKILL at the
// first line of stdout that matches.
func killed(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	lines, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	pattern, seen, text := regexp.MustCompile(args[0]), false, ""
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		text += scanner.Text() + "\n"
		if !seen && pattern.MatchString(scanner.Text()) {
			seen = true
			ts.Check(cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); !seen || err == nil {
		ts.Fatalf("ended before %s, with %v:\n%s", args[0], err, text)
	}
}

// unthrottle FILE lets the clicks come as fast as they are taken.
func unthrottle(ts *testscript.TestScript, _ bool, args []string) {
	text := withoutRate(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func withoutRate(spec string) string { return strings.Replace(spec, `"rate" = 2000;`, "", 1) }

// expected FILE compares what was written with the sessions of a plain loop.
func expected(ts *testscript.TestScript, _ bool, args []string) {
	want, err := plainLoop()
	ts.Check(err)
	got := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if len(want) != sessionCount {
		ts.Fatalf("a plain loop finds %d sessions, the documents say %d", len(want), sessionCount)
	}
	if !slices.Equal(got, want) {
		ts.Fatalf("%d lines in %s are not the %d expected", len(got), args[0], len(want))
	}
}

// sessionCount is what docs/quickstart.md says.
const sessionCount = 3307

// plainLoop finds the sessions of the clicks that the spec makes up.
func plainLoop() (lines []string, err error) {
	open := map[string]*session{}
	end := func(user string, s *session) {
		lines = append(lines, fmt.Sprintf(`{"user":%q,"start":%q,"end":%q,"clicks":%d}`, user, s.Start, s.Last, s.Clicks))
	}
	err = eachClick(func(user string, at flow.Time) {
		s := open[user]
		if s != nil && at.Sub(s.Last) > 30*time.Minute {
			end(user, s)
			s = nil
		}
		if s == nil {
			s = &session{Start: at}
			open[user] = s
		}
		s.Last = at
		s.Clicks++
	})
	for user, s := range open {
		end(user, s)
	}
	return lines, err
}

func eachClick(f func(user string, at flow.Time)) error {
	const path = "pipeline.yson"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := spec.Parse(path, []byte(withoutRate(string(text))))
	if err != nil {
		return err
	}
	made := s.Pipeline.Computations["reader"].Sources["made_up"]
	source, err := datagen.NewSource(connector.Setup{
		Parameters: flow.NewParameters(made.Parameters, "parameters"), Schema: s.Pipeline.Streams["clicks"].Schema,
	})
	if err != nil {
		return err
	}
	return read(source, f)
}

func read(source connector.Source, f func(user string, at flow.Time)) error {
	reader, err := source.Open(context.Background(), "0", nil)
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		batch, err := reader.Read(context.Background(), connector.Limit{Rows: 1000, Bytes: 1 << 20})
		if err != nil {
			return err
		}
		for _, row := range batch.Rows {
			at, err := time.Parse(time.RFC3339, row[1].AsString())
			if err != nil {
				return err
			}
			f(row[0].AsString(), flow.Time(at.UnixNano()))
		}
		if batch.End {
			return nil
		}
	}
}

func TestBothNotationsSayTheSame(t *testing.T) {
	var specs [2]*spec.Spec
	for i, path := range []string{"pipeline.yson", "pipeline.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if specs[i], err = spec.Parse(filepath.Join("sessions", path), text); err != nil {
			t.Fatal(err)
		}
	}
	a, b := specs[0], specs[1]
	if a.Name != b.Name || a.StaticText != b.StaticText || a.DynamicText != b.DynamicText {
		t.Errorf("pipeline.yson is\n%s %s\n%s\npipeline.yaml is\n%s %s\n%s",
			a.Name, a.StaticText, a.DynamicText, b.Name, b.StaticText, b.DynamicText)
	}
}
