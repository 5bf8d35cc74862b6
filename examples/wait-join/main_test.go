package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wait-join": main})
}

func TestTheProgramJoinsExactlyThroughKills(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"flights", "wait-join"} {
				if err := os.CopyFS(filepath.Join(env.WorkDir, "examples", name), os.DirFS("../"+name)); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"killed": killed, "expected": expected},
	})
}

// killed ROWS COMMAND runs a command, and kills it with SIGKILL when it has read
// that many rows.
func killed(ts *testscript.TestScript, _ bool, args []string) {
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := exec.Command(args[1])
	cmd.Dir = ts.MkAbs(".")
	lines, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	killed := false
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		rows := regexp.MustCompile(`^\d+`).FindString(scanner.Text())
		if n, err := strconv.Atoi(rows); err == nil && n >= least && !killed {
			killed = true
			ts.Check(cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); !killed {
		ts.Fatalf("ended before it had read %d rows: %v", least, err)
	}
}

// expected FILE compares what was written with a plain loop over the two files.
func expected(ts *testscript.TestScript, _ bool, args []string) {
	got := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	want := plainLoop(ts)
	slices.Sort(got)
	slices.Sort(want)
	corrected, total := 0, int64(0)
	for _, line := range want {
		var r row
		ts.Check(json.Unmarshal([]byte(line), &r))
		total += r.Delay
		if r.Corrected {
			corrected++
		}
	}
	if len(want) != 20000 || corrected != 1000 || total != 159_078 { // what README.md says
		ts.Fatalf("a plain loop finds %d flights, %d corrected, with a total delay of %d", len(want), corrected, total)
	}
	if !slices.Equal(got, want) {
		ts.Fatalf("%d lines in %s are not the %d expected", len(got), args[0], len(want))
	}
}

type row struct {
	Date        string `json:"date"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
	Delay       int64  `json:"delay"`
	Corrected   bool   `json:"corrected"`
}

func plainLoop(ts *testscript.TestScript) (lines []string) {
	corrections := map[row]int64{}
	each(ts, "examples/wait-join/data/corrections.jsonl", func(r row) {
		delay := r.Delay
		r.Delay = 0
		corrections[r] = delay
	})
	each(ts, "examples/flights/data/flights-20k.jsonl", func(r row) {
		flight := r
		flight.Delay = 0
		if delay, ok := corrections[flight]; ok {
			r.Delay, r.Corrected = delay, true
		}
		lines = append(lines, fmt.Sprintf(`{"date":%q,"origin":%q,"destination":%q,"delay":%d,"corrected":%v}`, r.Date, r.Origin, r.Destination, r.Delay, r.Corrected))
	})
	return lines
}

func each(ts *testscript.TestScript, path string, do func(row)) {
	for line := range strings.Lines(ts.ReadFile(path)) {
		var r row
		ts.Check(json.Unmarshal([]byte(line), &r))
		do(r)
	}
}
