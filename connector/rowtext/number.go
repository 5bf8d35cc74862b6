package rowtext

import (
	"errors"
	"strconv"
	"strings"
)

var (
	errRange    = errors.New("is out of range of")
	errFraction = errors.New("has a fraction, want")
)

// maxExponent is far beyond what any written number needs.
const maxExponent = 1 << 20

// plainInteger writes a JSON number without point and exponent. Nothing is
// rounded: doubles, which would be the short way, are not exact beyond 2^53.
func plainInteger(number string) (string, error) {
	digits, negative := strings.CutPrefix(number, "-")
	mantissa, exponent, err := cutExponent(digits)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	if err != nil {
		return "", err
	}
	exponent -= len(fraction)
	if exponent < 0 {
		significant := strings.TrimRight(digits, "0")
		if len(digits)-len(significant) < -exponent {
			return "", errFraction
		}
		digits, exponent = digits[:len(digits)+exponent], 0
	}
	const longest = 20 // digits of 2^64-1
	if len(digits)+exponent > longest {
		return "", errRange
	}
	digits += strings.Repeat("0", exponent)
	if negative {
		digits = "-" + digits
	}
	return digits, nil
}

// cutExponent splits a number at its exponent. The error is for one that is too
// large to have a meaning, unless the mantissa is zero.
func cutExponent(number string) (mantissa string, exponent int, err error) {
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return number, 0, nil
	}
	exponent, err = strconv.Atoi(number[i+1:])
	switch {
	case exponent < -maxExponent:
		err = errFraction
	case err != nil || exponent > maxExponent:
		err = errRange
	}
	return number[:i], exponent, err
}
