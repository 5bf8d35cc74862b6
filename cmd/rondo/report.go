package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/yson"
)

// specError is everything that is wrong with a spec file. What it names that is
// not there to be read is no fault of the spec: that is a plain error.
type specError struct {
	file string
	err  error
}

func (e *specError) Error() string { return e.file + ": " + e.err.Error() }
func (e *specError) Unwrap() error { return e.err }

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// report prints an error, one line for each problem, and returns the exit code.
func report(stderr io.Writer, err error) int {
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		fmt.Fprintf(stderr, "rondo: %s\nSee rondo --help.\n", visible(err.Error()))
		return exitUsage
	}
	wrong := (*specError)(nil)
	if !errors.As(err, &wrong) {
		for _, e := range parts(err) {
			fmt.Fprintf(stderr, "rondo: %s\n", visible(e.Error()))
		}
		if asked := (*console.Error)(nil); errors.As(err, &asked) && asked.Wrong() {
			return exitUsage
		}
		return exitFailed
	}
	lines := 0
	for _, e := range parts(wrong.err) {
		for _, line := range problems(e) {
			fmt.Fprintf(stderr, "%s:%s\n", visible(wrong.file), visible(line))
			lines++
		}
	}
	fmt.Fprintf(stderr, "rondo: %s in %s\n", plural(lines, "problem"), wrong.file)
	return exitUsage
}

// parts takes errors apart that were joined and nothing else: no text around
// them gets lost.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// problems are the lines of an error about a spec. One with a position begins
// with it, as editors understand, and any other with a space.
func problems(err error) []string {
	var found yson.Problems
	if !errors.As(err, &found) {
		return []string{" " + err.Error()}
	}
	lines := make([]string, len(found))
	for i, p := range found {
		lines[i] = strings.ReplaceAll(p.Error(), "\n", "\n  ")
		if p.Line == 0 {
			lines[i] = " " + lines[i]
		}
	}
	return lines
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pluralDigits is plural for numbers that may be long.
func pluralDigits(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return digits(n) + " " + what + "s"
}
