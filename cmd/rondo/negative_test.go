package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A negative number is a value wherever a value may stand, and what begins with a
// hyphen otherwise is a flag.
func TestANegativeNumberIsNoFlag(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Writers(os.Stderr, os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"spec set-dynamic f.yson a.b -1s", "spec set-dynamic -- f.yson a.b -1s"},
		{"spec set-dynamic f.yson a.b -1s --version 3", "spec set-dynamic --version 3 -- f.yson a.b -1s"},
		{"spec set-dynamic --data d a.b -.5", "spec set-dynamic --data d -- a.b -.5"},
		{"state get f.yson c -5 x -6 --raw --name /n", "state get --raw --name /n -- f.yson c -5 x -6"},
		{"state get f.yson c -- -5 --raw", "state get f.yson c -- -5 --raw"},
		{"state get f.yson c -5 -- --raw", "state get -- f.yson c -5 --raw"},
		{"visits run-now f.yson s --period -5s", "visits run-now --period=-5s -- f.yson s"},
		{"visits f.yson --watch", "visits f.yson --watch"},
		{"queue pull f.yson q --limit 5", "queue pull f.yson q --limit 5"},
		{"run -h", "run -h"},
		{"run f.yson --set a=-1", "run f.yson --set a=-1"},
	} {
		if got := strings.Join(negatives(parser.Model, strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.args, got, c.want)
		}
	}
}
