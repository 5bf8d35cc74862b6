package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseText returns the value of type t that text spells, as CSV fields and
// JSON numbers do: decimal numbers (integers in any notation, exactly), true and
// false, times in RFC 3339 or as integers. An any column takes YSON text as it
// is.
func (t Type) ParseText(text string) (Value, error) {
	switch t.Kind() {
	case KindString:
		return t.Convert(text)
	case KindAny:
		return Any(text), nil
	case KindBoolean:
		return t.parseBoolean(text)
	case KindDouble:
		return t.parseDouble(text)
	default:
		return t.parseInteger(text)
	}
}

func (t Type) parseBoolean(text string) (Value, error) {
	switch text {
	case "true":
		return Boolean(true), nil
	case "false":
		return Boolean(false), nil
	default:
		return Value{}, fmt.Errorf("%s is neither true nor false, want %s", shorten(String(text)), t)
	}
}

func (t Type) parseDouble(text string) (Value, error) {
	f, err := strconv.ParseFloat(text, 64)
	if strings.ContainsAny(text, "_xXpP") { // 0x1p3 and 1_000 are for Go
		err = strconv.ErrSyntax
	}
	switch {
	case err == nil:
		return t.Convert(f)
	case errors.Is(err, strconv.ErrRange):
		return Value{}, t.outOfRange(text)
	default:
		return Value{}, t.noNumber(text)
	}
}

func (t Type) outOfRange(text string) error {
	return fmt.Errorf("%s is out of range of %s", shorten(String(text)), t)
}

func (t Type) noNumber(text string) error {
	return fmt.Errorf("%s is no number, want %s", shorten(String(text)), t)
}

func (t Type) parseInteger(text string) (Value, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return t.Convert(i)
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return t.Convert(u)
	}
	if !isDecimal(text) {
		if t == TypeDate || t == TypeDatetime || t == TypeTimestamp {
			return t.Convert(text)
		}
		return Value{}, t.noNumber(text)
	}
	switch plain, fraction := plainInteger(text); {
	case fraction:
		return Value{}, fmt.Errorf("%s has a fraction, want %s", shorten(String(text)), t)
	case plain == "" || plain == strings.TrimPrefix(text, "+"):
		return Value{}, t.outOfRange(text)
	default:
		return t.parseInteger(plain)
	}
}

// isDecimal holds for decimal numbers as Go and JSON write them, of any size.
func isDecimal(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return strings.Trim(text, "0123456789+-.eE") == "" && (err == nil || errors.Is(err, strconv.ErrRange))
}

// plainInteger writes a decimal number without point and exponent: 1.50e2 is
// 150. It is empty if it has more digits than 64 bits do. Doubles, the short
// way, would round beyond 2^53.
func plainInteger(text string) (plain string, fraction bool) {
	const longest = 20 // digits of 2^64-1
	sign := text[:len(text)-len(strings.TrimLeft(text, "+-"))]
	mantissa, power := cutExponent(text[len(sign):])
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	point := len(digits) - len(part) + power // how many digits stand before it
	digits = strings.TrimRight(digits, "0")
	switch {
	case digits == "":
		return "0", false
	case point < len(digits):
		return "", true
	case point > longest:
		return "", false
	}
	return strings.TrimPrefix(sign, "+") + digits + strings.Repeat("0", point-len(digits)), false
}

// cutExponent cuts the exponent off. One beyond a million, which no number
// within reach needs, counts as a million.
func cutExponent(number string) (mantissa string, power int) {
	const farthest = 1_000_000
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return number, 0
	}
	power, _ = strconv.Atoi(number[i+1:]) // the largest there is, if it overflows
	return number[:i], max(-farthest, min(power, farthest))
}
