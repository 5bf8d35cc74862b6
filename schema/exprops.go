package schema

import "errors"

// errDivisionByZero is an error of the row, not of the expression.
var errDivisionByZero = errors.New("division by zero")

func (c *exprCompiler) unary(n *syntaxNode, arg operand) (operand, error) {
	if n.op == "not" {
		if err := c.want(arg, KindBoolean); err != nil {
			return operand{}, err
		}
		return computed(n, KindBoolean, strict1(arg, func(v Value) (Value, error) {
			return Boolean(!v.AsBoolean()), nil
		}))
	}
	if err := c.want(arg, KindInt64, KindDouble); err != nil {
		return operand{}, err
	}
	return computed(n, arg.kind, strict1(arg, func(v Value) (Value, error) {
		if v.kind == KindDouble {
			return Double(-v.AsDouble()), nil
		}
		return Int64(-v.AsInt64()), nil
	}))
}

// strict1 applies f to values that are not null.
func strict1(arg operand, f func(Value) (Value, error)) evalFunc {
	eval := arg.eval
	return func(row Row) (Value, error) {
		v, err := eval(row)
		if err != nil || v.IsNull() {
			return Value{}, err
		}
		return f(v)
	}
}

// strict2 applies f to pairs of which neither is null.
func strict2(a, b operand, f func(a, b Value) (Value, error)) evalFunc {
	left, right := a.eval, b.eval
	return func(row Row) (Value, error) {
		x, err := left(row)
		if err != nil || x.IsNull() {
			return Value{}, err
		}
		y, err := right(row)
		if err != nil || y.IsNull() {
			return Value{}, err
		}
		return f(x, y)
	}
}

// logic compiles and and or: the value that decides wins over null.
func (c *exprCompiler) logic(n *syntaxNode, a, b operand) (operand, error) {
	if err := errors.Join(c.want(a, KindBoolean), c.want(b, KindBoolean)); err != nil {
		return operand{}, err
	}
	decides := Boolean(n.op == "or")
	left, right := a.eval, b.eval
	return computed(n, KindBoolean, func(row Row) (Value, error) {
		x, err := left(row)
		if err != nil || x == decides {
			return x, err
		}
		y, err := right(row)
		if err != nil || y == decides || !x.IsNull() {
			return y, err
		}
		return x, nil
	})
}

func (c *exprCompiler) comparison(n *syntaxNode, a, b operand) (operand, error) {
	kind, err := c.unify(&a, &b)
	if err != nil {
		return operand{}, err
	}
	if kind == KindAny {
		return operand{}, c.errorAt(n.pos, "any values cannot be compared")
	}
	holds := comparisonOf(n.op)
	return computed(n, KindBoolean, strict2(a, b, func(x, y Value) (Value, error) {
		return Boolean(holds(Compare(x, y))), nil
	}))
}

func comparisonOf(op string) func(int) bool {
	switch op {
	case "=":
		return func(c int) bool { return c == 0 }
	case "!=":
		return func(c int) bool { return c != 0 }
	case "<":
		return func(c int) bool { return c < 0 }
	case "<=":
		return func(c int) bool { return c <= 0 }
	case ">":
		return func(c int) bool { return c > 0 }
	default:
		return func(c int) bool { return c >= 0 }
	}
}

func (c *exprCompiler) arithmetic(n *syntaxNode, a, b operand) (operand, error) {
	kind, err := c.unify(&a, &b)
	if err != nil {
		return operand{}, err
	}
	for _, arg := range []operand{a, b} {
		if err := c.want(arg, KindInt64, KindUint64, KindDouble); err != nil {
			return operand{}, err
		}
	}
	if kind == KindDouble && n.op == "%" {
		return operand{}, c.errorAt(n.pos, "%% is for integers")
	}
	return computed(n, kind, strict2(a, b, arithmeticOf(n.op, kind)))
}

func arithmeticOf(op string, kind Kind) func(a, b Value) (Value, error) {
	switch {
	case kind == KindDouble:
		return doubleArithmetic(op)
	case op == "/" || op == "%":
		return division(op, kind)
	default:
		return wrapping(op, kind)
	}
}

// wrapping is +, - and *, which have the same bits for int64 and uint64.
func wrapping(op string, kind Kind) func(a, b Value) (Value, error) {
	switch op {
	case "+":
		return func(a, b Value) (Value, error) { return Value{kind: kind, num: a.num + b.num}, nil }
	case "-":
		return func(a, b Value) (Value, error) { return Value{kind: kind, num: a.num - b.num}, nil }
	default:
		return func(a, b Value) (Value, error) { return Value{kind: kind, num: a.num * b.num}, nil }
	}
}

// division cuts towards zero; the remainder has the sign of the dividend.
func division(op string, kind Kind) func(a, b Value) (Value, error) {
	return func(a, b Value) (Value, error) {
		switch {
		case b.num == 0:
			return Value{}, errDivisionByZero
		case kind == KindInt64 && op == "/":
			return Int64(a.AsInt64() / b.AsInt64()), nil
		case kind == KindInt64:
			return Int64(a.AsInt64() % b.AsInt64()), nil
		case op == "/":
			return Uint64(a.num / b.num), nil
		default:
			return Uint64(a.num % b.num), nil
		}
	}
}

func doubleArithmetic(op string) func(a, b Value) (Value, error) {
	return func(a, b Value) (Value, error) {
		x, y := a.AsDouble(), b.AsDouble()
		switch op {
		case "+":
			return Double(x + y), nil
		case "-":
			return Double(x - y), nil
		case "*":
			return Double(x * y), nil
		}
		if y == 0 {
			return Value{}, errDivisionByZero
		}
		return Double(x / y), nil
	}
}
