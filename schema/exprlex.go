package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// token is one lexical element of an expression.
type token struct {
	kind  tokenKind
	text  string // identifier or operator as meant: unquoted, keywords in lower case
	value Value  // of a literal
	pos   int    // byte offset
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenLiteral
	tokenOperator // keywords and, or, not too
)

// describe prints the token for an error message.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenLiteral:
		return t.value.String()
	default:
		return strconv.Quote(t.text)
	}
}

// exprLexer cuts an expression into tokens.
type exprLexer struct {
	text string
	pos  int
}

func (l *exprLexer) errorAt(pos int, format string, args ...any) error {
	return &ExpressionError{Text: l.text, Offset: pos, Message: fmt.Sprintf(format, args...)}
}

func (l *exprLexer) next() (token, error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokenEnd, pos: start}, nil
	}
	switch c := l.text[start]; {
	case isNameStart(c):
		return l.word(), nil
	case isDigit(c):
		return l.number()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[':
		return l.bracketed()
	default:
		return l.operator()
	}
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isNameStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isNameByte(c byte) bool  { return isNameStart(c) || isDigit(c) }

// word reads an identifier or keyword; keywords may be in any case.
func (l *exprLexer) word() token {
	start := l.pos
	for l.pos < len(l.text) && isNameByte(l.text[l.pos]) {
		l.pos++
	}
	t := token{kind: tokenName, text: l.text[start:l.pos], pos: start}
	switch lower := strings.ToLower(t.text); lower {
	case "and", "or", "not":
		t.kind, t.text = tokenOperator, lower
	case "true", "false":
		t.kind, t.value = tokenLiteral, Boolean(lower == "true")
	case "null":
		t.kind = tokenLiteral
	}
	return t
}

// number reads 1, 1u, 1.5, 1e-3.
func (l *exprLexer) number() (token, error) {
	start := l.pos
	l.skipDigits()
	isDouble := false
	if l.peek() == '.' {
		isDouble = true
		l.pos++
		l.skipDigits()
	}
	if l.peek()|0x20 == 'e' {
		isDouble = true
		l.pos++
		if l.peek() == '+' || l.peek() == '-' {
			l.pos++
		}
		l.skipDigits()
	}
	value, err := l.numberValue(l.text[start:l.pos], isDouble)
	if err != nil {
		return token{}, l.errorAt(start, "%v", err)
	}
	if isNameByte(l.peek()) {
		return token{}, l.errorAt(l.pos, "unexpected %q after a number", l.peek())
	}
	return token{kind: tokenLiteral, value: value, pos: start}, nil
}

func (l *exprLexer) numberValue(digits string, isDouble bool) (Value, error) {
	if isDouble {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return Value{}, fmt.Errorf("%s is no double", digits)
		}
		return Double(f), nil
	}
	u, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%s does not fit in 64 bits", digits)
	}
	if l.peek()|0x20 == 'u' {
		l.pos++
		return Uint64(u), nil
	}
	if u > 1<<63 { // 1<<63 itself may follow a minus
		return Value{}, fmt.Errorf("%s does not fit in int64: write %su for uint64", digits, digits)
	}
	return Int64(int64(u)), nil
}

func (l *exprLexer) skipDigits() {
	for isDigit(l.peek()) {
		l.pos++
	}
}

// peek returns the next byte, 0 at the end.
func (l *exprLexer) peek() byte {
	if l.pos == len(l.text) {
		return 0
	}
	return l.text[l.pos]
}

// quoted reads a string literal with Go's (and C's) escapes.
func (l *exprLexer) quoted(quote byte) (token, error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); {
		switch c := l.text[l.pos]; c {
		case quote:
			l.pos++
			return token{kind: tokenLiteral, value: String(b.String()), pos: start}, nil
		case '\\':
			r, multibyte, tail, err := strconv.UnquoteChar(l.text[l.pos:], quote)
			if err != nil {
				return token{}, l.errorAt(l.pos, "unknown escape in a string: use \\n, \\t, \\\\, \\%c or \\x00", quote)
			}
			if multibyte {
				b.WriteRune(r)
			} else {
				b.WriteByte(byte(r))
			}
			l.pos = len(l.text) - len(tail)
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	return token{}, l.errorAt(start, "this string is not closed")
}

// bracketed reads a quoted column name such as [a b].
func (l *exprLexer) bracketed() (token, error) {
	start := l.pos
	end := strings.IndexByte(l.text[start:], ']')
	if end < 0 {
		return token{}, l.errorAt(start, "this [ is not closed")
	}
	l.pos = start + end + 1
	return token{kind: tokenName, text: l.text[start+1 : start+end], pos: start}, nil
}

func (l *exprLexer) operator() (token, error) {
	start := l.pos
	for _, op := range []string{"!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ","} {
		if strings.HasPrefix(l.text[start:], op) {
			l.pos += len(op)
			return token{kind: tokenOperator, text: op, pos: start}, nil
		}
	}
	return token{}, l.errorAt(start, "unexpected %q", l.text[start:start+1])
}
