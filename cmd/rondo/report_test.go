package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/yson"
)

func TestErrorsAreReportedOnALineEach(t *testing.T) {
	found := yson.Problems{
		{Path: "/spec", Line: 3, Column: 7, Message: "an expression\na + \n    ^"},
		{Path: "/dynamic_spec", Message: "no place"},
	}
	kind := errors.New("a kind of error")
	for _, c := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"one error", errors.New("a disk is full"), exitFailed, "rondo: a disk is full\n"},
		{"joined errors", errors.Join(errors.New("one"), errors.Join(errors.New("two"), errors.New("three"))), exitFailed, "rondo: one\nrondo: two\nrondo: three\n"},
		{"an error of two kinds is one", fmt.Errorf("%w: of %w", kind, errors.Join(errors.New("one"), errors.New("two"))), exitFailed, "rondo: a kind of error: of one\ntwo\n"},
		{"problems of a spec, wherever they come from", &specError{"p.yson", errors.Join(fmt.Errorf("somewhere: %w", found), errors.New("a function is missing"))}, exitUsage, `p.yson:3:7: /spec: an expression
  a + 
      ^
p.yson: /dynamic_spec: no place
p.yson: a function is missing
rondo: 3 problems in p.yson
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if code := report(&out, c.err); code != c.code || out.String() != c.want {
				t.Errorf("got %d and:\n%swant %d and:\n%s", code, out.String(), c.code, c.want)
			}
		})
	}
}

func TestTheVersionTellsWhatTheBinaryWasBuiltFrom(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs.revision", Value: "e8d4422"}}
	for _, c := range []struct {
		version, want string
	}{
		{"v1.2.3", "rondo v1.2.3, go1.26 linux/arm64"},
		{"(devel)", "rondo (devel) e8d4422, go1.26 linux/arm64"},
		{"", "rondo (unknown), go1.26 linux/arm64"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: c.version}, Settings: settings}
		if got := describe(info); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
