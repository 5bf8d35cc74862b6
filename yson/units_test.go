package yson

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "2s": 2 * time.Second, "500ms": 500 * time.Millisecond, "1d12h": 36 * time.Hour, "14d": 14 * day, "2w": 14 * day,
		"1w2d3h4m5s6ms7us8ns": 9*day + 3*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond + 7*time.Microsecond + 8,
		"1.5h":                90 * time.Minute, "0.25s": 250 * time.Millisecond, "1.0000000019s": time.Second + 1, "106751d": 106751 * day,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestBadDurationsAreRefused(t *testing.T) {
	for _, text := range []string{"", "5", "s", "-s", "--1s", "+1s", "1 s", "1s ", "1x", "1.s", ".5s", "1h2", "1e3s", "1y", "ms"} {
		if _, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), "is no duration: use numbers with the units") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseDuration("-1h30m"); err == nil || err.Error() != "a duration cannot be negative, got -1h30m" {
		t.Errorf("a negative one: %v", err)
	}
	for _, text := range []string{"106752d", "99999999999999999999s", "106751d23h48m", "9223372036.854775808s"} {
		if _, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), "is too long") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "14d": 14 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1m30s": 90 * time.Second, "1s500ms": 1500 * time.Millisecond, "-2s": -2 * time.Second, "1ns": 1,
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v prints as %s, want %s", d, got, want)
		}
	}
}

func TestDurationsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "d"))
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Fatalf("%s is %d, %v", FormatDuration(d), got, err)
		}
	})
	if got := FormatDuration(math.MinInt64); got != "-106751d23h47m16s854ms775us808ns" {
		t.Fatalf("the smallest duration prints as %s", got)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "5000": 5000, "10K": 10_000, "1M": 1e6, "2G": 2e9, "3T": 3e12, "1Ki": 1024, "16Mi": 16 << 20, "1Gi": 1 << 30, "2Ti": 2 << 40,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1", "1.5K", "1 K", "1KB", "1k", "x"} {
		if _, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), "is no size") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"9223372036854775808", "9223372T0K", "8388608Ti", "9223373T"} {
		if _, err := ParseSize(text); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
}

func TestSizesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Range(0, math.MaxInt64).Draw(t, "s"))
		if got, err := ParseSize(s.String()); err != nil || got != s {
			t.Fatalf("%v is %d, %v", s, got, err)
		}
	})
	for want, s := range map[string]Size{"0": 0, "10K": 10_000, "16Mi": 16 << 20, "1048": 1048, "1T": 1e12} {
		if s.String() != want {
			t.Errorf("%d prints as %v, want %s", int64(s), s, want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	f.Add("1d12h")
	f.Add("1.5h0.000000001s")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil && d < 0 {
			t.Fatalf("%q is %v", text, d)
		}
	})
}
