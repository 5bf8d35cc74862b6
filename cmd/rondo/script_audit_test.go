package main

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// audited LEFT.csv CLOSED.jsonl compares what examples/audit left of its table, and
// what it told, with what a plain loop over the accounts comes to.
func audited(ts *testscript.TestScript, _ bool, args []string) {
	limit := time.Date(2001, 3, 1, 0, 0, 0, 0, time.UTC)
	var wantLeft, wantClosed []string
	for _, row := range commaSeparated(ts, "examples/audit/data/accounts.csv")[1:] {
		seen, err := time.Parse(time.RFC3339, row[2])
		if err == nil && seen.Before(limit) {
			wantClosed = append(wantClosed, row[0])
		} else {
			wantLeft = append(wantLeft, row[0])
		}
	}
	var left, closed []string
	for _, row := range commaSeparated(ts, args[0])[1:] {
		left = append(left, row[1])
	}
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n") {
		var told struct{ User string }
		ts.Check(json.Unmarshal([]byte(line), &told))
		closed = append(closed, told.User)
	}
	for _, c := range []struct {
		what      string
		got, want []string
	}{{args[0], left, wantLeft}, {args[1], closed, wantClosed}} {
		slices.Sort(c.got)
		slices.Sort(c.want)
		if !slices.Equal(c.got, c.want) {
			ts.Fatalf("%s has %d users, want %d", c.what, len(c.got), len(c.want))
		}
	}
}

// commaSeparated reads a file of comma-separated values.
func commaSeparated(ts *testscript.TestScript, path string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(path))).ReadAll()
	ts.Check(err)
	return rows
}
