package schema

// Limits that keep hostile expressions from exhausting the stack.
const (
	maxExpressionBytes = 16 << 10
	maxExpressionDepth = 100
)

// syntaxNode is one node of a parsed expression. op is "literal", "column",
// "call", or the operator; "neg" is the unary minus.
type syntaxNode struct {
	op    string
	pos   int
	value Value  // literal
	name  string // column or function
	args  []*syntaxNode
}

// exprParser is a recursive-descent parser with one token of look-ahead.
type exprParser struct {
	lexer exprLexer
	token token
	depth int
}

func parseExpression(text string) (*syntaxNode, error) {
	p := &exprParser{lexer: exprLexer{text: text}}
	if len(text) > maxExpressionBytes {
		return nil, p.lexer.errorAt(0, "longer than %d bytes", maxExpressionBytes)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	node, err := p.expression()
	if err == nil && p.token.kind != tokenEnd {
		err = p.unexpected("an operator")
	}
	return node, err
}

func (p *exprParser) advance() (err error) {
	p.token, err = p.lexer.next()
	return err
}

func (p *exprParser) unexpected(want string) error {
	return p.lexer.errorAt(p.token.pos, "want %s, got %s", want, p.token.describe())
}

// binaryLevels lists the binary operators from the loosest to the tightest.
// The level of not lies between and and the comparisons.
var binaryLevels = [...][]string{
	levelOr:      {"or"},
	levelAnd:     {"and"},
	levelCompare: {"=", "!=", "<", "<=", ">", ">="},
	levelSum:     {"+", "-"},
	levelProduct: {"*", "/", "%"},
}

const (
	levelOr = iota
	levelAnd
	levelCompare
	levelSum
	levelProduct
	levelUnary
)

func (p *exprParser) expression() (*syntaxNode, error) { return p.nested(levelOr) }

// nested is binary where the grammar comes back to itself; it bounds the depth.
func (p *exprParser) nested(level int) (*syntaxNode, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExpressionDepth {
		return nil, p.lexer.errorAt(p.token.pos, "nested deeper than %d", maxExpressionDepth)
	}
	return p.binary(level)
}

// binary reads a left-associative chain of the operators of one level.
func (p *exprParser) binary(level int) (*syntaxNode, error) {
	if level == levelCompare && p.is("not") {
		return p.prefix("not", levelCompare)
	}
	if level == levelUnary {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil && p.isOneOf(binaryLevels[level]) {
		node := &syntaxNode{op: p.token.text, pos: p.token.pos}
		if err = p.advance(); err != nil {
			break
		}
		var right *syntaxNode
		right, err = p.binary(level + 1)
		node.args = []*syntaxNode{left, right}
		left = node
	}
	return left, err
}

func (p *exprParser) unary() (*syntaxNode, error) {
	if !p.is("-") {
		return p.primary()
	}
	node, err := p.prefix("neg", levelUnary)
	if err != nil {
		return nil, err
	}
	return foldMinus(node), nil
}

// prefix reads a prefix operator and its operand.
func (p *exprParser) prefix(op string, operandLevel int) (*syntaxNode, error) {
	node := &syntaxNode{op: op, pos: p.token.pos}
	if err := p.advance(); err != nil {
		return nil, err
	}
	arg, err := p.nested(operandLevel)
	node.args = []*syntaxNode{arg}
	return node, err
}

// foldMinus makes -1 a literal, so that literals adapt to the other operand's
// type whatever their sign.
func foldMinus(node *syntaxNode) *syntaxNode {
	arg := node.args[0]
	if arg.op != "literal" {
		return node
	}
	switch arg.value.kind {
	case KindInt64:
		return &syntaxNode{op: "literal", pos: node.pos, value: Int64(-arg.value.AsInt64())}
	case KindDouble:
		return &syntaxNode{op: "literal", pos: node.pos, value: Double(-arg.value.AsDouble())}
	default:
		return node
	}
}

func (p *exprParser) is(op string) bool {
	return p.token.kind == tokenOperator && p.token.text == op
}

func (p *exprParser) isOneOf(ops []string) bool {
	for _, op := range ops {
		if p.is(op) {
			return true
		}
	}
	return false
}

func (p *exprParser) primary() (*syntaxNode, error) {
	t := p.token
	switch {
	case t.kind == tokenLiteral:
		return &syntaxNode{op: "literal", pos: t.pos, value: t.value}, p.advance()
	case t.kind == tokenName:
		return p.columnOrCall()
	case p.is("("):
		return p.parenthesised()
	default:
		return nil, p.unexpected("a column, a literal or a function")
	}
}

func (p *exprParser) parenthesised() (*syntaxNode, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	node, err := p.expression()
	if err != nil {
		return nil, err
	}
	return node, p.closing()
}

func (p *exprParser) closing() error {
	if !p.is(")") {
		return p.unexpected(`")"`)
	}
	return p.advance()
}

func (p *exprParser) columnOrCall() (*syntaxNode, error) {
	node := &syntaxNode{op: "column", pos: p.token.pos, name: p.token.text}
	quoted := p.lexer.text[p.token.pos] == '['
	if err := p.advance(); err != nil || quoted || !p.is("(") {
		return node, err
	}
	node.op = "call"
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is(")") {
		return node, p.advance()
	}
	for {
		arg, err := p.expression()
		if err != nil {
			return nil, err
		}
		node.args = append(node.args, arg)
		if !p.is(",") {
			return node, p.closing()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}
