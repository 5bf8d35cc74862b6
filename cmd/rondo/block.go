package main

import (
	"fmt"
	"strings"
	"time"
)

// blockLines are the lines of the live block beside those of visit streams: the
// first, of the whole pipeline, and the last, of what is wrong.
const blockLines = 2

// line returns a line of the live block, cut to the width of the terminal.
func (v *view) line(i, width int) string {
	switch {
	case i == 0:
		return cut(v.total(), width)
	case i <= len(v.sweeps):
		return cut(v.sweeps[i-1].line(), width)
	case i == len(v.sweeps)+1:
		return cut(v.last(), width)
	default:
		return "" // of a visit stream that has not begun
	}
}

func (v *view) total() string {
	return fmt.Sprintf("%s messages  %s/s  %s epochs  %s", digits(int64(v.messages)), digits(int64(v.rate)),
		digits(int64(v.epochs)), v.elapsed.Truncate(time.Second))
}

// last tells what is wrong, else what to do.
func (v *view) last() string {
	if len(v.troubles) > 0 {
		return "! " + v.trouble()
	}
	return "Ctrl-C stops; the same command goes on"
}

// trouble tells the first one of some, and how many more there are.
func (v *view) trouble() string {
	if more := len(v.troubles) - 1; more > 0 {
		return fmt.Sprintf("%s (and %d more)", v.troubles[0], more)
	}
	return v.troubles[0]
}

const barWidth = 24

func (s *sweep) line() string {
	return fmt.Sprintf("%s [%s] %s  %s visits/s  %s evictions", s.name, bar(s.progress), s.state(),
		digits(int64(s.visitsPerSecond)), digits(s.evictions))
}

// bar shows a fraction.
func bar(progress float64) string {
	full := min(barWidth, max(0, int(progress*barWidth)))
	return strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full)
}

// cut keeps a text on one line of a terminal.
func cut(text string, width int) string {
	text = strings.ReplaceAll(text, "\n", " ")
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:max(0, width-1)]) + "…"
}

// digits writes an integer in groups of three.
func digits(n int64) string {
	s := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return sign + s
}
