package rowtext

import "strings"

// csvScan finds the ends of rows: line ends that are not inside quotes. Where a
// row is malformed it ends with the line, as it does for encoding/csv, so that
// the next one can be read.
type csvScan struct {
	delimiter byte
	state     csvState
}

// csvState is where in a row a text ends.
type csvState uint8

const (
	atField      csvState = iota // where a field begins
	inPlain                      // in a field without quotes
	inQuotes                     // inside the quotes of a field
	behindQuote                  // behind a quote that closes the field, or is the first of two
	untilLineEnd                 // what follows cannot change where the row ends
)

// scan is [Decoder.Scan].
func (c *csvScan) scan(text string) int {
	end := strings.IndexByte(text, '\n')
	line := text
	if end >= 0 {
		line = text[:end]
	}
	if (c.state == atField || c.state == inPlain) && strings.IndexByte(line, '"') < 0 {
		c.passPlain(line)
		return c.ended(end)
	}
	return c.scanQuoted(text)
}

// ended forgets the row if it has ended before the line end at i.
func (c *csvScan) ended(i int) int {
	if i < 0 {
		return -1
	}
	c.state = atField
	return i + 1
}

// passPlain is behind a piece of a row without quotes.
func (c *csvScan) passPlain(piece string) {
	switch {
	case piece == "":
	case piece[len(piece)-1] == c.delimiter:
		c.state = atField
	default:
		c.state = inPlain
	}
}

func (c *csvScan) scanQuoted(text string) int {
	for i := 0; i < len(text); i++ {
		switch c.state {
		case inQuotes:
			next := strings.IndexByte(text[i:], '"')
			if next < 0 {
				return -1
			}
			i += next
			c.state = behindQuote
		case untilLineEnd:
			next := strings.IndexByte(text[i:], '\n')
			if next < 0 {
				return -1
			}
			return c.ended(i + next)
		default:
			if text[i] == '\n' {
				return c.ended(i)
			}
			c.state = c.after(text[i])
		}
	}
	return -1
}

// after returns the state behind a byte outside quotes that ends no line.
func (c *csvScan) after(b byte) csvState {
	switch {
	case b == c.delimiter:
		return atField
	case b == '"' && c.state != inPlain:
		return inQuotes
	case b == '"' || c.state == behindQuote:
		return untilLineEnd
	default:
		return inPlain
	}
}
