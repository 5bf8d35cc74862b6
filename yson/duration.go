package yson

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// durationUnits lists the units from the largest to the smallest, with those
// that begin with another one in front of it where a prefix is looked for.
var durationUnits = []struct {
	name string
	unit time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"ms", time.Millisecond},
	{"m", time.Minute},
	{"s", time.Second},
	{"us", time.Microsecond},
	{"ns", time.Nanosecond},
}

// ParseDuration reads a duration such as 2s, 14d, 1d12h, 1.5h: numbers with the
// units ns, us, ms, s, m, h, d and w, added up. 0 needs no unit. Durations are
// not negative and end at about 292 years.
func ParseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	if s == "" {
		return 0, badDuration(s)
	}
	if positive, negative := strings.CutPrefix(s, "-"); negative {
		if _, err := ParseDuration(positive); err == nil {
			return 0, fmt.Errorf("a duration cannot be negative, got %s", s)
		}
		return 0, badDuration(s)
	}
	var total time.Duration
	for rest := s; rest != ""; {
		part, n := durationPart(rest)
		if n == 0 {
			return 0, badDuration(s)
		}
		if part < 0 || total > math.MaxInt64-part {
			return 0, fmt.Errorf("duration %q is too long: at most 292 years", s)
		}
		total += part
		rest = rest[n:]
	}
	return total, nil
}

func badDuration(s string) error {
	return fmt.Errorf("%q is no duration: use numbers with the units ns, us, ms, s, m, h, d, w, such as 1d12h", s)
}

// durationPart reads one number with its unit; n is its length, 0 if there is
// none; the result is negative if it overflows.
func durationPart(s string) (d time.Duration, n int) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	fraction := 0
	if digits < len(s) && s[digits] == '.' {
		fraction = 1 + len(s[digits+1:]) - len(strings.TrimLeft(s[digits+1:], "0123456789"))
	}
	number, rest := s[:digits+fraction], s[digits+fraction:]
	if digits == 0 || fraction == 1 {
		return 0, 0
	}
	for _, u := range durationUnits {
		if strings.HasPrefix(rest, u.name) {
			return scale(number, u.unit), len(number) + len(u.name)
		}
	}
	return 0, 0
}

// scale multiplies a decimal number by a unit; -1 if it overflows. What is
// beyond a nanosecond is cut.
func scale(number string, unit time.Duration) time.Duration {
	whole, fraction, _ := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return -1
	}
	d := time.Duration(n) * unit
	for _, digit := range fraction {
		unit /= 10
		part := time.Duration(digit-'0') * unit
		if d > math.MaxInt64-part {
			return -1
		}
		d += part
	}
	return d
}

// FormatDuration prints d exactly, in the form that [ParseDuration] reads, from
// days down: 14d, 1d12h, 1s500ms, 0s. A negative duration has a minus in front.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	rest := uint64(d)
	if d < 0 {
		b.WriteByte('-')
		rest = -rest
	}
	for _, name := range []string{"d", "h", "m", "s", "ms", "us", "ns"} {
		unit := unitOf(name)
		if n := rest / unit; n > 0 {
			b.WriteString(strconv.FormatUint(n, 10) + name)
			rest %= unit
		}
	}
	return b.String()
}

func unitOf(name string) uint64 {
	for _, u := range durationUnits {
		if u.name == name {
			return uint64(u.unit)
		}
	}
	return 1
}
