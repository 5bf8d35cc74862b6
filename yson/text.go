package yson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// textParser reads YSON: text, in which scalars may be binary.
type textParser struct{ cursor }

func parseYSON(data []byte, format Format) (node *Node, err error) {
	p := &textParser{newCursor(data)}
	p.binary = bytes.ContainsAny(data, marks)
	switch format {
	case YSONListFragment:
		node = &Node{Kind: KindList, Pos: p.at()}
		node.List, err = p.items(fragmentEnd, node.Pos)
	case YSONMapFragment:
		node = &Node{Kind: KindMap, Pos: p.at()}
		node.Map, err = p.entries(fragmentEnd, node.Pos)
	default:
		node, err = p.value()
	}
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); !p.done() {
		return nil, p.fail("want %s, got %s", p.end(), p.found())
	}
	return node, nil
}

// fragmentEnd stands for the end of the data where a closing bracket is asked
// for. No byte of YSON is it.
const fragmentEnd = 0

func (p *textParser) value() (*Node, error) {
	p.skipSpace()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var attributes []Entry
	at := p.at()
	if p.peek() == '<' {
		p.pos++
		var err error
		if attributes, err = p.entries('>', at); err != nil {
			return nil, err
		}
		p.skipSpace()
	}
	node := &Node{Attributes: attributes, Pos: p.at()}
	return node, p.valueInto(node)
}

func (p *textParser) valueInto(n *Node) (err error) {
	switch c := p.peek(); {
	case c == '{':
		n.Kind = KindMap
		p.pos++
		n.Map, err = p.entries('}', n.Pos)
	case c == '[':
		n.Kind = KindList
		p.pos++
		n.List, err = p.items(']', n.Pos)
	case c == '#':
		p.pos++
	case c == '"':
		n.Kind = KindString
		n.Text, err = p.quoted()
	case isWordStart(c):
		n.Kind = KindString
		n.Text = p.takeWhile(isWordByte)
	case c == '%':
		err = p.percent(n)
	case isNumberByte(c) && c != 'e' && c != 'E' && c != 'u':
		err = p.number(n)
	case isMark(c):
		err = p.marked(n)
	default:
		err = p.fail("want a value, got %s%s", p.found(), p.hint())
	}
	return err
}

// hint explains what other notations lead one to write.
func (p *textParser) hint() string {
	switch p.peek() {
	case '/':
		return ": YSON has no comments, use YAML for them"
	case '\'':
		return `: quote strings with "`
	case ':':
		return `: write key = value, or name the file .json or .yaml`
	case ',':
		return `: items are separated by ";"`
	default:
		return ""
	}
}

func isWordStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWordByte(c byte) bool {
	return isWordStart(c) || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '%'
}

// isNumberByte holds for all bytes of numbers; number sorts them out.
func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || strings.IndexByte("+-.eEu", c) >= 0
}

// items reads the rest of a list whose bracket is at open.
func (p *textParser) items(end byte, open Pos) (items []*Node, err error) {
	for {
		if closed, err := p.closing(end, open); closed || err != nil {
			return items, err
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if err := p.separator(end, open); err != nil {
			return nil, err
		}
	}
}

// entries reads the rest of a map or of attributes, whose bracket is at open.
func (p *textParser) entries(end byte, open Pos) (entries []Entry, err error) {
	seen := keySet{}
	for {
		if closed, err := p.closing(end, open); closed || err != nil {
			return entries, err
		}
		entry := Entry{Pos: p.at()}
		if entry.Key, err = p.key(); err != nil {
			return nil, err
		}
		if err = seen.add(&p.cursor, entry.Key, entry.Pos); err != nil {
			return nil, err
		}
		if entry.Value, err = p.value(); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
		if err = p.separator(end, open); err != nil {
			return nil, err
		}
	}
}

// key reads a key and the = after it.
func (p *textParser) key() (key string, err error) {
	switch c := p.peek(); {
	case c == '"':
		if key, err = p.quoted(); err != nil {
			return "", err
		}
	case isWordStart(c):
		key = p.takeWhile(isWordByte)
	case c == markString:
		p.pos++
		if key, err = p.counted(); err != nil {
			return "", err
		}
	default:
		return "", p.fail("want a key, got %s%s", p.found(), p.hint())
	}
	if p.skipSpace(); p.peek() != '=' {
		return "", p.fail(`want "=" after the key %q, got %s%s`, key, p.found(), p.hint())
	}
	p.pos++
	return key, nil
}

// closing reports whether the next byte is end, and passes it.
func (p *textParser) closing(end byte, open Pos) (bool, error) {
	p.skipSpace()
	switch {
	case p.done() && end == fragmentEnd:
		return true, nil
	case p.done():
		return false, p.failAt(open, "this bracket is not closed: want %q before %s", end, p.end())
	case p.peek() != end || end == fragmentEnd:
		return false, nil
	}
	p.pos++
	return true, nil
}

// separator passes a ";", or stays in front of end.
func (p *textParser) separator(end byte, open Pos) error {
	p.skipSpace()
	switch {
	case p.peek() == ';':
		p.pos++
		return nil
	case p.peek() == end || p.done():
		return nil
	case end == fragmentEnd:
		return p.fail(`want ";" or %s, got %s%s`, p.end(), p.found(), p.hint())
	default:
		return p.fail(`want ";" or %q (for the bracket %s), got %s%s`, end, open.roughly(), p.found(), p.hint())
	}
}

// percent reads %true, %false, %nan, %inf, %+inf and %-inf.
func (p *textParser) percent(n *Node) error {
	p.pos++
	word := p.takeWhile(func(c byte) bool { return isWordStart(c) || c == '+' || c == '-' })
	switch word {
	case "true", "false":
		n.Kind, n.Bool = KindBoolean, word == "true"
	case "nan":
		n.Kind, n.Double = KindDouble, math.NaN()
	case "inf", "+inf":
		n.Kind, n.Double = KindDouble, math.Inf(1)
	case "-inf":
		n.Kind, n.Double = KindDouble, math.Inf(-1)
	default:
		return p.failAt(n.Pos, "unknown literal %%%s: use %%true, %%false, %%nan, %%inf or %%-inf", word)
	}
	return nil
}

func (p *textParser) number(n *Node) (err error) {
	text := p.takeWhile(isNumberByte)
	digits, unsigned := strings.CutSuffix(text, "u")
	switch {
	case unsigned:
		n.Kind = KindUint64
		n.Uint, err = strconv.ParseUint(digits, 10, 64)
	case strings.ContainsAny(text, ".eE"):
		n.Kind = KindDouble
		n.Double, err = strconv.ParseFloat(text, 64)
	default:
		n.Kind = KindInt64
		n.Int, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return p.failAt(n.Pos, "%s is %s", text, numberFault(err, n.Kind))
	}
	if !p.done() && isWordByte(p.peek()) {
		return p.failAt(n.Pos, "%s is followed by %s: quote text that begins with a digit", text, p.found())
	}
	return nil
}

// numberFault says in our words what strconv refused.
func numberFault(err error, kind Kind) string {
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		switch kind {
		case KindInt64:
			return "out of the range of int64: an unsigned integer ends in u"
		case KindUint64:
			return "out of the range of uint64"
		default:
			return "out of the range of double"
		}
	}
	return "no number: quote text that begins with a digit or a sign"
}
