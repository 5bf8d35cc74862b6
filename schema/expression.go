package schema

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// ExpressionError is a fault in the text of an expression.
type ExpressionError struct {
	Text    string
	Offset  int // byte offset of the fault in Text
	Message string
}

// Error returns the message, the line of the expression, and a caret under the
// fault, on three lines.
func (e *ExpressionError) Error() string {
	start := strings.LastIndexByte(e.Text[:e.Offset], '\n') + 1
	line, _, _ := strings.Cut(e.Text[start:], "\n")
	return fmt.Sprintf("expression: %s\n  %s\n  %s^", e.Message, line, blank(line[:e.Offset-start]))
}

// blank returns white space as wide as s.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// Expression is a compiled column expression. It is immutable and may be
// evaluated by many goroutines at once.
//
// Null operands give null, with four exceptions: is_null, if_null, farm_hash
// (null hashes as 0), and the operators and and or, which are decided by one
// side that decides them (false and null is false). The right side of and and
// or, and the branch of if that is not taken, are not evaluated. Integers wrap
// around at 64 bits; a division by zero is an error of the row.
type Expression struct {
	text    string
	kind    Kind
	eval    evalFunc
	columns []int
	ops     map[string]bool
}

// evalFunc computes a (sub)expression for one row.
type evalFunc func(row Row) (Value, error)

// CompileExpression parses text and resolves its columns in s; the rows given
// to Eval have the columns of s. Faults are [*ExpressionError].
func CompileExpression(text string, s *Schema) (*Expression, error) {
	return compileExpression(text, func(name string) (int, Kind, error) {
		i, ok := s.Index(name)
		if !ok {
			return 0, 0, fmt.Errorf("unknown column %q: %s", name, nearOr(name, s.names(), "the columns are "))
		}
		return i, s.columns[i].Type.Kind(), nil
	})
}

// nearOr proposes the name that was meant, or lists all.
func nearOr(name string, known []string, list string) string {
	if near := yson.Suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return list + strings.Join(known, ", ")
}

func (s *Schema) names() []string {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.Name
	}
	return names
}

// resolver finds a column by name: its index in the rows to come, its kind.
type resolver func(name string) (int, Kind, error)

func compileExpression(text string, resolve resolver) (*Expression, error) {
	tree, err := parseExpression(text)
	if err != nil {
		return nil, err
	}
	e := &Expression{text: text, ops: map[string]bool{}}
	c := &exprCompiler{text: text, resolve: resolve, result: e}
	root, err := c.compile(tree)
	if err != nil {
		return nil, err
	}
	e.kind, e.eval = root.kind, root.eval
	return e, nil
}

// String returns the text of the expression.
func (e *Expression) String() string { return e.text }

// Kind returns the kind of the values; KindNull if they are always null.
func (e *Expression) Kind() Kind { return e.kind }

// Columns returns the indices of the columns it reads, in order of appearance,
// repeats included.
func (e *Expression) Columns() []int { return e.columns }

// Uses reports whether the operator or function occurs in the expression.
func (e *Expression) Uses(op string) bool { return e.ops[op] }

// Eval returns the value for one row. It does not allocate, except for strings
// it makes.
func (e *Expression) Eval(row Row) (Value, error) {
	v, err := e.eval(row)
	if err != nil {
		return Value{}, fmt.Errorf("expression %s: %w", e.text, err)
	}
	return v, nil
}
