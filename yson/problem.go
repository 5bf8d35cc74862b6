package yson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of a configuration, with its place: the path of the
// value (empty for a fault of syntax) and its position, if the text gave one.
type Problem struct {
	Path         string
	Line, Column int    // a [Pos]
	Message      string // what is wrong and what to do
	Allowed      string // what the value may be, such as "> 0 and <= 1"; empty if nothing else than the message says it
}

// Error returns "line:column: path: message"; what is unknown is left out.
func (p Problem) Error() string {
	var b strings.Builder
	if at := p.pos(); at != (Pos{}) {
		b.WriteString(at.String() + ": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

func (p Problem) pos() Pos { return Pos{Line: p.Line, Column: p.Column} }

// Problems is all the faults found, an error if there is one. Functions return
// nil Problems when all is well; use [Problems.Err] to pass them on as an error.
type Problems []Problem

// Error returns one line per problem; a message of several lines (an
// expression with its caret) is indented.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = strings.ReplaceAll(p.Error(), "\n", "\n  ")
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, nil if there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Add appends a problem at the node's position; n may be nil.
func (ps *Problems) Add(n *Node, path, format string, args ...any) {
	p := Problem{Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line, p.Column = n.Pos.Line, n.Pos.Column
	}
	*ps = append(*ps, p)
}

// Sort orders the problems by position, those without one last.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if a.Column == 0 || b.Column == 0 {
			return cmp.Compare(b.Column, a.Column)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// One returns a single problem at the node's position; n may be nil.
func One(n *Node, path, format string, args ...any) Problems {
	var ps Problems
	ps.Add(n, path, format, args...)
	return ps
}
