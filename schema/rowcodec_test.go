package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRowsComeBackAsTheyWent(t *testing.T) {
	var reused Row
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(genRow(), 1, 4).Draw(t, "rows")
		tail := rapid.SliceOf(rapid.Byte()).Draw(t, "tail")
		var data []byte
		for _, row := range rows {
			data = AppendRow(data, row)
		}
		rest := append(data, tail...)
		for _, row := range rows {
			var err error
			if reused, rest, err = DecodeRow(rest, reused); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(reused, row) {
				t.Fatalf("got %v, want %v", reused, row)
			}
		}
		if !bytes.Equal(rest, tail) {
			t.Fatalf("%x is left, want %x", rest, tail)
		}
	})
}

func TestDecodedRowOutlivesItsBuffer(t *testing.T) {
	data := AppendRow(nil, Row{String("abc"), Any("{a=1}")})
	row, _, err := DecodeRow(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if want := (Row{String("abc"), Any("{a=1}")}); !slices.Equal(row, want) {
		t.Fatalf("got %v, want %v", row, want)
	}
}

func TestEveryCutRowIsAnError(t *testing.T) {
	data := AppendRow(nil, Row{Int64(-1 << 40), Uint64(1 << 60), Double(1.5), Boolean(true), Null(), String("text"), Any("#")})
	for n := range len(data) {
		if row, rest, err := DecodeRow(data[:n], nil); !errors.Is(err, ErrCorruptRow) || len(row) != 0 || len(rest) != n {
			t.Errorf("%d of %d bytes decode to %v, %v, with %d left", n, len(data), row, err, len(rest))
		}
	}
}

func TestCorruptRowsAreErrors(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<62)
	for name, data := range map[string][]byte{
		"more columns than bytes": append(huge, 0),
		"more string than bytes":  append([]byte{1}, huge...),
		"unknown tag":             {1, 0, 99},
		"string beyond the rest":  {1, 1, 'a', rowString, 2},
		"string bytes left over":  {1, 1, 'a', rowNull},
	} {
		if _, _, err := DecodeRow(data, nil); !errors.Is(err, ErrCorruptRow) {
			t.Errorf("%s: %v, want a corrupt row", name, err)
		}
	}
}

func FuzzDecodeRow(f *testing.F) {
	f.Add(AppendRow(nil, Row{Int64(-3), Uint64(7), Double(1.5), Boolean(true), Null(), String("text"), Any("#")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		row, _, err := DecodeRow(data, nil)
		if err != nil {
			return
		}
		again, rest, err := DecodeRow(AppendRow(nil, row), nil)
		if err != nil || len(rest) != 0 || !slices.Equal(again, row) {
			t.Fatalf("%v comes back as %v, %v", row, again, err)
		}
	})
}

func flightRow() Row {
	return Row{String("2001/01/14 21:55"), Int64(-8), String("SMF"), String("PDX")}
}

func BenchmarkAppendRow(b *testing.B) {
	row := flightRow()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendRow(dst[:0], row)
	}
}

func BenchmarkDecodeRow(b *testing.B) {
	data := AppendRow(nil, flightRow())
	var row Row
	b.ReportAllocs()
	for b.Loop() {
		row, _, _ = DecodeRow(data, row)
	}
}
