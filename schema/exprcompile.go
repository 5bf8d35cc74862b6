package schema

import "fmt"

// exprCompiler checks kinds and turns a syntax tree into closures.
type exprCompiler struct {
	text    string
	resolve resolver
	result  *Expression
}

// operand is a compiled subexpression.
type operand struct {
	eval    evalFunc
	kind    Kind
	pos     int
	literal bool
	value   Value // of a literal
	column  int   // -1 if it is no plain column
}

func (c *exprCompiler) errorAt(pos int, format string, args ...any) error {
	return &ExpressionError{Text: c.text, Offset: pos, Message: fmt.Sprintf(format, args...)}
}

func (c *exprCompiler) compile(n *syntaxNode) (operand, error) {
	switch n.op {
	case "literal":
		return c.literal(n)
	case "column":
		return c.column(n)
	case "call":
		return c.call(n)
	}
	c.result.ops[n.op] = true
	args, err := c.compileAll(n.args)
	if err != nil {
		return operand{}, err
	}
	switch n.op {
	case "not", "neg":
		return c.unary(n, args[0])
	case "and", "or":
		return c.logic(n, args[0], args[1])
	case "=", "!=", "<", "<=", ">", ">=":
		return c.comparison(n, args[0], args[1])
	default:
		return c.arithmetic(n, args[0], args[1])
	}
}

func (c *exprCompiler) compileAll(nodes []*syntaxNode) ([]operand, error) {
	args := make([]operand, len(nodes))
	for i, n := range nodes {
		var err error
		if args[i], err = c.compile(n); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func (c *exprCompiler) literal(n *syntaxNode) (operand, error) {
	if n.value == Int64(-1<<63) && isDigit(c.text[n.pos]) {
		return operand{}, c.errorAt(n.pos, "9223372036854775808 does not fit in int64: write 9223372036854775808u for uint64")
	}
	return constant(n.value, n.pos), nil
}

func constant(v Value, pos int) operand {
	eval := func(Row) (Value, error) { return v, nil }
	return operand{eval: eval, kind: v.kind, pos: pos, literal: true, value: v, column: -1}
}

func (c *exprCompiler) column(n *syntaxNode) (operand, error) {
	i, kind, err := c.resolve(n.name)
	if err != nil {
		return operand{}, c.errorAt(n.pos, "%v", err)
	}
	c.result.columns = append(c.result.columns, i)
	eval := func(row Row) (Value, error) { return row[i], nil }
	return operand{eval: eval, kind: kind, pos: n.pos, column: i}, nil
}

// computed is an operand that is neither literal nor column.
func computed(n *syntaxNode, kind Kind, eval evalFunc) (operand, error) {
	return operand{eval: eval, kind: kind, pos: n.pos, column: -1}, nil
}

// want refuses an operand of another kind; null literals fit everywhere.
func (c *exprCompiler) want(o operand, kinds ...Kind) error {
	if o.kind == KindNull {
		return nil
	}
	for _, kind := range kinds {
		if o.kind == kind {
			return nil
		}
	}
	return c.errorAt(o.pos, "this is %s, want %s", o.kind, kindList(kinds))
}

func kindList(kinds []Kind) string {
	s := kinds[0].String()
	for i, kind := range kinds[1:] {
		sep := ", "
		if i == len(kinds)-2 {
			sep = " or "
		}
		s += sep + kind.String()
	}
	return s
}

// unify gives a and b one kind: a literal adapts to the other side where it can
// be exact, everything else must agree already.
func (c *exprCompiler) unify(a, b *operand) (Kind, error) {
	switch {
	case a.kind == KindNull:
		return b.kind, nil
	case b.kind == KindNull || a.kind == b.kind:
		return a.kind, nil
	case b.literal && adapt(b, a.kind):
		return a.kind, nil
	case a.literal && adapt(a, b.kind):
		return b.kind, nil
	default:
		return 0, c.errorAt(b.pos, "%s and %s do not mix", a.kind, b.kind)
	}
}

// adapt turns a numeric literal into one of another kind; false if it does not
// fit exactly.
func adapt(o *operand, kind Kind) bool {
	numeric := o.kind == KindInt64 || o.kind == KindUint64
	target := map[Kind]Type{KindInt64: TypeInt64, KindUint64: TypeUint64, KindDouble: TypeDouble}[kind]
	if !numeric || !target.Valid() {
		return false
	}
	var v Value
	var err error
	if o.kind == KindInt64 {
		v, err = target.Convert(o.value.AsInt64())
	} else {
		v, err = target.Convert(o.value.AsUint64())
	}
	if err != nil {
		return false
	}
	*o = constant(v, o.pos)
	return true
}
