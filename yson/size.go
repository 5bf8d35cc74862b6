package yson

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes or things, written as an integer or as text with a
// unit: K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti powers of 1024.
type Size int64

// sizeUnits lists the units from the largest to the smallest.
var sizeUnits = []struct {
	name string
	unit int64
}{
	{"Ti", 1 << 40}, {"T", 1e12}, {"Gi", 1 << 30}, {"G", 1e9},
	{"Mi", 1 << 20}, {"M", 1e6}, {"Ki", 1 << 10}, {"K", 1e3}, {"", 1},
}

// ParseSize reads a size such as 5000, 10K or 16Mi.
func ParseSize(s string) (Size, error) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok || strings.Trim(number, "0123456789") != "" || number == "" {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > math.MaxInt64/u.unit {
			return 0, fmt.Errorf("size %q is out of range: at most %d", s, int64(math.MaxInt64))
		}
		return Size(n * u.unit), nil
	}
	return 0, fmt.Errorf("%q is no size: use an integer, or one with the unit K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024)", s)
}

// String prints the size exactly, with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.unit == 0 {
			return strconv.FormatInt(int64(s)/u.unit, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
