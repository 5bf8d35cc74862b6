package schema

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twinCompare is the order of rows in its plainest form, to judge bytes by.
func twinCompare(a, b Row) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if c := twinCompareValues(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func twinCompareValues(a, b Value) int {
	if a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch a.Kind() {
	case KindInt64:
		return cmp.Compare(a.AsInt64(), b.AsInt64())
	case KindUint64:
		return cmp.Compare(a.AsUint64(), b.AsUint64())
	case KindDouble:
		return cmp.Compare(rank(a.AsDouble()), rank(b.AsDouble()))
	case KindBoolean:
		return strings.Compare(a.String(), b.String()) // false < true
	default:
		return bytes.Compare([]byte(a.AsString()), []byte(b.AsString()))
	}
}

// rank puts doubles on a line of integers: NaN last, both zeros on one point.
func rank(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return math.MaxInt64
	case f < 0:
		return -int64(math.Float64bits(-f))
	default:
		return int64(math.Float64bits(math.Abs(f)))
	}
}

func TestKeyBytesSortAsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genRow().Draw(t, "a"), genRow().Draw(t, "b")
		if rapid.Bool().Draw(t, "share a prefix") {
			b = append(slices.Clone(a), b...)
		}
		got := bytes.Compare(AppendKey(nil, a...), AppendKey(nil, b...))
		if want := twinCompare(a, b); got != want {
			t.Fatalf("bytes compare as %d, values as %d", got, want)
		}
		if got := CompareRows(a, b); got != twinCompare(a, b) {
			t.Fatalf("CompareRows is %d, want %d", got, twinCompare(a, b))
		}
	})
}

func TestKeyDecodesToItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := genRow().Draw(t, "row")
		got, err := DecodeKey(string(AppendKey(nil, row...)))
		if err != nil {
			t.Fatal(err)
		}
		if CompareRows(got, row) != 0 {
			t.Fatalf("got %v", got)
		}
	})
}

func TestKeysOfOneLengthAreNoPrefixesOfEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genRow().Draw(t, "a")
		b := Row(rapid.SliceOfN(genValue(), len(a), len(a)).Draw(t, "b"))
		x, y := AppendKey(nil, a...), AppendKey(nil, b...)
		if CompareRows(a, b) != 0 && bytes.HasPrefix(y, x) {
			t.Fatalf("%x is a prefix of %x", x, y)
		}
	})
}

func TestKeyBuiltInPartsIsTheWholeKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genRow().Draw(t, "a"), genRow().Draw(t, "b")
		parts := AppendKey(AppendKey(nil, a...), b...)
		if whole := AppendKey(nil, append(slices.Clone(a), b...)...); !bytes.Equal(parts, whole) {
			t.Fatalf("%x in parts, %x at once", parts, whole)
		}
	})
}

func TestHashPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash, rest := rapid.Uint64().Draw(t, "hash"), genRow().Draw(t, "rest")
		prefix := AppendHash(nil, hash)
		if len(prefix) != HashKeyLen || !bytes.Equal(prefix, AppendKey(nil, Uint64(hash))) {
			t.Fatalf("AppendHash gives %x", prefix)
		}
		got, err := KeyHash(string(AppendKey(prefix, rest...)))
		if err != nil || got != hash {
			t.Fatalf("KeyHash is %d, %v", got, err)
		}
	})
}

func TestKeyHashNeedsALeadingUint64(t *testing.T) {
	for _, key := range []string{"", "\x03", string(AppendKey(nil, Int64(1))), string(AppendKey(nil, String("aaaaaaaaaa")))} {
		if _, err := KeyHash(key); !errors.Is(err, ErrCorruptKey) {
			t.Errorf("KeyHash(%x) = %v, want a corrupt key", key, err)
		}
	}
}

func TestCorruptKeysAreErrors(t *testing.T) {
	for _, key := range []string{
		"\x00",                                 // no tag
		"\x08",                                 // unknown tag
		"\x02\x80",                             // short number
		"\x05",                                 // no boolean
		"\x05\x02",                             // no such boolean
		"\x06abc",                              // string without end
		"\x06abc\x00",                          // half an end
		"\x06abc\x00\x02",                      // unknown escape
		"\x04\x7f\xff\xff\xff\xff\xff\xff\xff", // -0 is never written
		"\x04\xff\xff\xff\xff\xff\xff\xff\xfe", // nor is another NaN
	} {
		if row, err := DecodeKey(key); !errors.Is(err, ErrCorruptKey) {
			t.Errorf("DecodeKey(%x) = %v, %v, want a corrupt key", key, row, err)
		}
	}
}

func FuzzDecodeKey(f *testing.F) {
	f.Add(string(AppendKey(nil, Uint64(7), String("a\x00b"), Null(), Boolean(true), Double(-1.5), Int64(-3))))
	f.Fuzz(func(t *testing.T, key string) {
		row, err := DecodeKey(key)
		if err != nil {
			return
		}
		if again := string(AppendKey(nil, row...)); again != key {
			t.Fatalf("%x decodes to %v, which encodes to %x", key, row, again)
		}
	})
}

func BenchmarkAppendKey(b *testing.B) {
	row := Row{Uint64(5535082662106027368), String("DFW"), String("ORD")}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendKey(dst[:0], row...)
	}
}
