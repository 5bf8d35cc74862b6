package schema

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

func expression(t testing.TB, s *Schema, text string) *Expression {
	t.Helper()
	e, err := CompileExpression(text, s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// String prints the tree fully parenthesised.
func (n *syntaxNode) String() string {
	switch n.op {
	case "literal":
		return n.value.String()
	case "column":
		return "[" + n.name + "]"
	}
	s := n.op
	if n.op == "call" {
		s = n.name
	}
	for _, arg := range n.args {
		s += " " + arg.String()
	}
	return "(" + s + ")"
}

// The columns that scripts use, and their values in order.
func scriptRow(t testing.TB) (*Schema, Row) {
	s := schemaOf(t, "i:int64", "u:uint64", "d:double", "b:boolean", "s:string", "x:any", "nothing:int64", "a b:string", "truth:boolean")
	return s, Row{Int64(7), Uint64(7), Double(2.5), Boolean(true), String("Straße"), Any("{}"), Null(), String("quoted"), Null()}
}

// TestExpressions runs the scripts in testdata/expressions. Each line of a
// block is an expression:
//
//	parse   prints its tree
//	eval    prints kind and value over the row of scriptRow
//	refuse  prints the error of compiling it
func TestExpressions(t *testing.T) {
	s, row := scriptRow(t)
	datadriven.Walk(t, "testdata/expressions", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for text := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
				switch d.Cmd {
				case "parse":
					tree, err := parseExpression(text)
					fmt.Fprintf(&out, "%s\n", orError(tree, err))
				case "eval":
					out.WriteString(evalLine(s, row, text))
				case "refuse":
					_, err := CompileExpression(text, s)
					fmt.Fprintf(&out, "%v\n", err)
				default:
					d.Fatalf(t, "unknown command %s", d.Cmd)
				}
			}
			return out.String()
		})
	})
}

func orError(v any, err error) any {
	if err != nil {
		return err
	}
	return v
}

func evalLine(s *Schema, row Row, text string) string {
	e, err := CompileExpression(text, s)
	if err != nil {
		return fmt.Sprintf("%v\n", err)
	}
	v, err := e.Eval(row)
	return fmt.Sprintf("%s: %v\n", e.Kind(), orError(v, err))
}

func TestExpressionSaysWhatItReads(t *testing.T) {
	s, _ := scriptRow(t)
	e := expression(t, s, "if(i % 2 = 0, farm_hash(u, s), u)")
	if got := fmt.Sprint(e.Columns()); got != "[0 1 4 1]" {
		t.Errorf("columns %s", got)
	}
	for op, want := range map[string]bool{"%": true, "=": true, "farm_hash": true, "if": true, "+": false, "lower": false} {
		if e.Uses(op) != want {
			t.Errorf("Uses(%s) is %v", op, !want)
		}
	}
}

func TestCaretStandsUnderTheFault(t *testing.T) {
	s, _ := scriptRow(t)
	_, err := CompileExpression("farm_hash(i,\n\tś, 'ö', orgin)", s)
	want := "expression: unexpected \"\\xc5\"\n  \tś, 'ö', orgin)\n  \t^"
	if err == nil || err.Error() != want {
		t.Fatalf("got\n%v\nwant\n%s", err, want)
	}
	var fault *ExpressionError
	if !errors.As(err, &fault) || fault.Offset != 14 {
		t.Fatalf("got %#v", err)
	}
}

func TestHugeExpressionsAreRefused(t *testing.T) {
	s, _ := scriptRow(t)
	for name, text := range map[string]string{
		"nested deeper": strings.Repeat("(", 5000) + "i" + strings.Repeat(")", 5000),
		"nested":        strings.Repeat("not ", 2000) + "b",
		"deeper than":   strings.Repeat("- ", 2000) + "i",
		"longer than":   strings.Repeat("i + ", 10000) + "i",
	} {
		if _, err := CompileExpression(text, s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %.100v, want %q", err, name)
		}
	}
}

// TestIntegerArithmeticWraps compares with Go's own arithmetic.
func TestIntegerArithmeticWraps(t *testing.T) {
	s := schemaOf(t, "a:int64", "b:int64", "x:uint64", "y:uint64")
	eval := func(t *rapid.T, text string, row Row) Value {
		e, err := CompileExpression(text, s)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Eval(row)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := uint64(a), uint64(b)
		row := Row{Int64(a), Int64(b), Uint64(x), Uint64(y)}
		want := map[string]Value{
			"a + b": Int64(a + b), "a - b": Int64(a - b), "a * b": Int64(a * b), "-a": Int64(-a),
			"x + y": Uint64(x + y), "x - y": Uint64(x - y), "x * y": Uint64(x * y),
			"a < b": Boolean(a < b), "x < y": Boolean(x < y), "a = b": Boolean(a == b), "x >= y": Boolean(x >= y),
		}
		if b != 0 {
			want["a / b"], want["a % b"] = Int64(a/b), Int64(a%b)
			want["x / y"], want["x % y"] = Uint64(x/y), Uint64(x%y)
		}
		for text, v := range want {
			if got := eval(t, text, row); got != v {
				t.Fatalf("%s is %v, want %v", text, got, v)
			}
		}
	})
}

func TestMinInt64DividedByMinusOneWraps(t *testing.T) {
	s := schemaOf(t, "a:int64", "b:int64")
	for text, want := range map[string]Value{"a / b": Int64(-1 << 63), "a % b": Int64(0)} {
		if got, err := expression(t, s, text).Eval(Row{Int64(-1 << 63), Int64(-1)}); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestEvalDoesNotAllocate(t *testing.T) {
	s, row := scriptRow(t)
	for _, text := range []string{
		"farm_hash(i)", "farm_hash(i, u, d, b, s, nothing)", "farm_hash(i + 1, lower('x'), s, if(b, d, 0.5))", "u",
		"i + 1 * 2 - 3 / 4 % 5", "-i", "u * 2u", "d / 2", "i = 7 and u != 8u or not b", "s < [a b]", "s >= 'x'", "'a' = 'b'",
		"is_null(nothing)", "if_null(nothing, 3)", "if(i > 3 and not is_null(s), farm_hash(i + 1, s, d * 2), u) + 1u",
		"length(s)", "lower([a b])", "nothing + 1", "truth and b", "null", "1u", "'text'",
	} {
		e := expression(t, s, text)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := e.Eval(row); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", text, allocs)
		}
	}
}

// FuzzExpression compiles any text, as an expression and as a column of a key,
// and evaluates it over any row. Faults are errors whose caret lies in the
// text; a row can only fail by a division by zero. The seeds are the
// expressions of all scripts.
func FuzzExpression(f *testing.F) {
	scripts, err := filepath.Glob("testdata/expressions/*")
	if err != nil || len(scripts) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		datadriven.RunTestAny(f, path, func(_ testing.TB, d *datadriven.TestData) string {
			for text := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
				f.Add(text, int64(7), uint64(0), 2.5, "x", byte(0))
			}
			return d.Expected
		})
	}
	f.Add(strings.Repeat("(", 200)+"i", int64(-1<<63), uint64(1<<63), math.NaN(), "\xff", byte(0xff))
	s, _ := scriptRow(f)
	key := schemaOf(f, "hash:uint64=1u", "i:int64", "u:uint64", "d:double", "b:boolean", "s:string")
	f.Fuzz(func(t *testing.T, text string, i int64, u uint64, d float64, str string, nulls byte) {
		row := Row{Int64(i), Uint64(u), Double(d), Boolean(i < 0), String(str), Any(str), Null(), String(text), Null()}
		for bit := range 8 {
			if nulls>>bit&1 == 1 {
				row[bit] = Null()
			}
		}
		compilesAsKey(t, text, key)
		e, err := CompileExpression(text, s)
		if err != nil {
			caretIsInside(t, text, err)
			return
		}
		v, err := e.Eval(row)
		switch {
		case err != nil && !errors.Is(err, errDivisionByZero):
			t.Fatalf("%s fails with %v", text, err)
		case err == nil && !v.IsNull() && v.Kind() != e.Kind():
			t.Fatalf("%s is said to give %s and gives %v", text, e.Kind(), v)
		}
		if again, err2 := e.Eval(row); again != v || (err2 == nil) != (err == nil) {
			t.Fatalf("%s is %v, and then %v", text, v, again)
		}
	})
}

// compilesAsKey checks the text as the expression of a key's first column.
func compilesAsKey(t *testing.T, text string, key *Schema) {
	columns := slices.Clone(key.Columns())
	columns[0].Expression = text
	s, err := New(columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckGroupBy(s); err != nil && err.Error() == "" {
		t.Fatal("a fault without words")
	}
}

func caretIsInside(t *testing.T, text string, err error) {
	var fault *ExpressionError
	if !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(text) || !strings.Contains(err.Error(), "^") {
		t.Fatalf("%q: %#v", text, err)
	}
}
