package yson

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"
)

// TestLyingLengthsAllocateNothing has strings that claim far more than is there.
func TestLyingLengthsAllocateNothing(t *testing.T) {
	for _, prefix := range []string{"", "[", "{a=", "<"} {
		data := append([]byte(prefix), markString)
		data = append(binary.AppendVarint(data, math.MaxInt32), "abc"...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(data, YSON)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "this string should have 2147483647 bytes, 3 are left") {
			t.Errorf("%q: %v", data, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%q: %d bytes are allocated", data, grown)
		}
	}
}

func TestBinaryKeepsEveryBitOfADouble(t *testing.T) {
	for _, bits := range []uint64{0, 1 << 63, 0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0001, math.Float64bits(0.1)} {
		node, err := Parse(EncodeBinary(Double(math.Float64frombits(bits))), YSON)
		if err != nil || math.Float64bits(node.Double) != bits {
			t.Errorf("%x comes back as %x, %v", bits, math.Float64bits(node.Double), err)
		}
	}
}

func TestStringsBeyondTheBinaryLengthAreQuoted(t *testing.T) {
	if got := string(appendCounted(nil, "abcd", 3)); got != `"abcd"` {
		t.Errorf("got %q", got)
	}
	if got := string(appendCounted(nil, "abc", 3)); got != "\x01\x06abc" {
		t.Errorf("got %q", got)
	}
}

func TestProblemsOfBinaryDataSortByOffset(t *testing.T) {
	node, err := Parse([]byte("{nme=\x02\x02;name=\x01\x02a;i8=\x02\x80\x04}"), YSON)
	if err != nil {
		t.Fatal(err)
	}
	problems := append(Problems{{Message: "no place"}}, Decode(node, "", &sample{})...)
	problems.Sort()
	want := "offset 1: nme: unknown field: did you mean name?\noffset 20: i8: 256 is out of the range of int8\nno place"
	if problems.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", problems, want)
	}
}

func BenchmarkParseBinary(b *testing.B) {
	data := EncodeBinary(Map(
		Entry{Key: "name", Value: String("hash")}, Entry{Key: "values", Value: List(Int64(-5), Uint64(1<<60), Double(0.5), Boolean(true))},
	))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, YSON); err != nil {
			b.Fatal(err)
		}
	}
}
