package schema

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// function describes a built-in function: how many arguments it takes and how
// it is compiled.
type function struct {
	name     string
	min, max int // max 0 = any number
	compile  func(c *exprCompiler, n *syntaxNode, args []operand) (operand, error)
}

// Functions returns the names of the functions that expressions may call, in
// alphabetical order.
func Functions() []string { return functionNames(functions()) }

// functions lists the built-in functions in alphabetical order.
func functions() []function {
	return []function{
		{"concat", 1, 0, (*exprCompiler).concat},
		{"farm_hash", 1, 0, (*exprCompiler).farmHash},
		{"if", 3, 3, (*exprCompiler).choice},
		{"if_null", 2, 2, (*exprCompiler).ifNull},
		{"is_null", 1, 1, (*exprCompiler).isNull},
		{"length", 1, 1, (*exprCompiler).length},
		{"lower", 1, 1, (*exprCompiler).lower},
		{"upper", 1, 1, (*exprCompiler).upper},
	}
}

func (c *exprCompiler) call(n *syntaxNode) (operand, error) {
	all := functions()
	i := slices.IndexFunc(all, func(f function) bool { return f.name == strings.ToLower(n.name) })
	if i < 0 {
		return operand{}, c.errorAt(n.pos, "unknown function %q: %s", n.name, nearOr(n.name, functionNames(all), "the functions are "))
	}
	f := all[i]
	switch {
	case len(n.args) < f.min:
		return operand{}, c.errorAt(n.pos, "%s takes at least %d arguments, got %d", f.name, f.min, len(n.args))
	case f.max > 0 && len(n.args) > f.max:
		return operand{}, c.errorAt(n.pos, "%s takes at most %d arguments, got %d", f.name, f.max, len(n.args))
	}
	args, err := c.compileAll(n.args)
	if err != nil {
		return operand{}, err
	}
	c.result.ops[f.name] = true
	return f.compile(c, n, args)
}

func functionNames(all []function) []string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.name
	}
	return names
}

func (c *exprCompiler) farmHash(n *syntaxNode, args []operand) (operand, error) {
	evals := make([]evalFunc, len(args))
	for i, arg := range args {
		if arg.kind == KindAny {
			return operand{}, c.errorAt(arg.pos, "any values have no hash: hash scalar columns")
		}
		evals[i] = arg.eval
	}
	if columns := plainColumns(args); columns != nil {
		return computed(n, KindUint64, farmHashOfColumns(columns))
	}
	return computed(n, KindUint64, func(row Row) (Value, error) {
		hash := uint64(farmSeed)
		for _, eval := range evals {
			v, err := eval(row)
			if err != nil {
				return Value{}, err
			}
			hash = farmMix(hash, &v)
		}
		return Uint64(hash ^ uint64(len(evals))), nil
	})
}

// plainColumns returns the column indices of args, nil if one is no column.
func plainColumns(args []operand) []int {
	columns := make([]int, len(args))
	for i, arg := range args {
		if arg.column < 0 {
			return nil
		}
		columns[i] = arg.column
	}
	return columns
}

// farmHashOfColumns is the common case, which runs once per message.
func farmHashOfColumns(columns []int) evalFunc {
	return func(row Row) (Value, error) {
		hash := uint64(farmSeed)
		for _, i := range columns {
			hash = farmMix(hash, &row[i])
		}
		return Uint64(hash ^ uint64(len(columns))), nil
	}
}

// choice is if(condition, a, b); a null condition gives null.
func (c *exprCompiler) choice(n *syntaxNode, args []operand) (operand, error) {
	if err := c.want(args[0], KindBoolean); err != nil {
		return operand{}, err
	}
	kind, err := c.unify(&args[1], &args[2])
	if err != nil {
		return operand{}, err
	}
	condition, yes, no := args[0].eval, args[1].eval, args[2].eval
	return computed(n, kind, func(row Row) (Value, error) {
		v, err := condition(row)
		switch {
		case err != nil || v.IsNull():
			return Value{}, err
		case v.AsBoolean():
			return yes(row)
		default:
			return no(row)
		}
	})
}

func (c *exprCompiler) ifNull(n *syntaxNode, args []operand) (operand, error) {
	kind, err := c.unify(&args[0], &args[1])
	if err != nil {
		return operand{}, err
	}
	first, second := args[0].eval, args[1].eval
	return computed(n, kind, func(row Row) (Value, error) {
		v, err := first(row)
		if err != nil || !v.IsNull() {
			return v, err
		}
		return second(row)
	})
}

func (c *exprCompiler) isNull(n *syntaxNode, args []operand) (operand, error) {
	eval := args[0].eval
	return computed(n, KindBoolean, func(row Row) (Value, error) {
		v, err := eval(row)
		return Boolean(v.IsNull()), err
	})
}

// length counts bytes.
func (c *exprCompiler) length(n *syntaxNode, args []operand) (operand, error) {
	if err := c.want(args[0], KindString); err != nil {
		return operand{}, err
	}
	return computed(n, KindInt64, strict1(args[0], func(v Value) (Value, error) {
		return Int64(int64(len(v.str))), nil
	}))
}

func (c *exprCompiler) lower(n *syntaxNode, args []operand) (operand, error) {
	return c.mapString(n, args[0], strings.ToLower, 'A', 'Z')
}

func (c *exprCompiler) upper(n *syntaxNode, args []operand) (operand, error) {
	return c.mapString(n, args[0], strings.ToUpper, 'a', 'z')
}

// mapString changes the case of text. Bytes that are no UTF-8 must survive, so
// there only the ASCII letters from first to last change.
func (c *exprCompiler) mapString(n *syntaxNode, arg operand, change func(string) string, first, last byte) (operand, error) {
	if err := c.want(arg, KindString); err != nil {
		return operand{}, err
	}
	return computed(n, KindString, strict1(arg, func(v Value) (Value, error) {
		if utf8.ValidString(v.str) {
			return String(change(v.str)), nil
		}
		bytes := []byte(v.str)
		for i, b := range bytes {
			if b >= first && b <= last {
				bytes[i] = b ^ 0x20
			}
		}
		return String(string(bytes)), nil
	}))
}

func (c *exprCompiler) concat(n *syntaxNode, args []operand) (operand, error) {
	for _, arg := range args {
		if err := c.want(arg, KindString); err != nil {
			return operand{}, err
		}
	}
	return computed(n, KindString, func(row Row) (Value, error) {
		var b strings.Builder
		for i := range args {
			v, err := args[i].eval(row)
			if err != nil || v.IsNull() {
				return Value{}, err
			}
			b.WriteString(v.str)
		}
		return String(b.String()), nil
	})
}
