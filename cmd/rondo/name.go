package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameText is a name or a value that somebody chose, of any bytes. Messages show one
// as it is, without quotes, where it can be seen.
type nameText string

// String quotes a name that would not be seen as it is.
func (n nameText) String() string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if n == "" || strings.ContainsFunc(string(n), hidden) {
		return strconv.Quote(string(n))
	}
	return string(n)
}

// MarshalJSON makes a string, or the object that stands for bytes which are no
// text.
func (n nameText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return []byte(jsonText(string(n))), nil
	}
	return []byte(jsonBytes([]byte(n))), nil
}

// visible escapes what a terminal would obey and what is no text, for messages
// that quote what somebody wrote. The ends of lines stay.
func visible(message string) string {
	var b strings.Builder
	for i, r := range message {
		switch bad, size := utf8.DecodeRuneInString(message[i:]); {
		case bad == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(message[i]), 16))
		case r != '\n' && r != '\t' && unicode.IsControl(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
