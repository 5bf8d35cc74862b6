package schema

import (
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestConvert(t *testing.T) {
	at := time.Date(2001, 1, 14, 21, 55, 3, 123456789, time.UTC)
	for _, tc := range []struct {
		typ  Type
		in   any
		want Value
		err  string
	}{
		{TypeInt64, nil, Null(), ""},
		{TypeInt64, 7, Int64(7), ""},
		{TypeInt64, int8(-7), Int64(-7), ""},
		{TypeInt64, int16(-7), Int64(-7), ""},
		{TypeInt64, int32(-7), Int64(-7), ""},
		{TypeInt64, uint(7), Int64(7), ""},
		{TypeInt64, uint8(7), Int64(7), ""},
		{TypeInt64, uint16(7), Int64(7), ""},
		{TypeInt64, uint32(7), Int64(7), ""},
		{TypeInt64, 3.0, Int64(3), ""},
		{TypeInt64, float32(3), Int64(3), ""},
		{TypeInt64, -9223372036854775808.0, Int64(-1 << 63), ""},
		{TypeInt64, Int64(3), Int64(3), ""},
		{TypeInt64, 1.5, Null(), "1.5 has a fraction, want int64"},
		{TypeInt64, math.NaN(), Null(), "NaN is no integer, want int64"},
		{TypeInt64, math.Inf(1), Null(), "+Inf is no integer, want int64"},
		{TypeInt64, 9223372036854775808.0, Null(), "9223372036854775808 is out of range of int64"},
		{TypeInt64, 1e30, Null(), "1e+30 is out of range of int64"},
		{TypeInt64, -1e30, Null(), "-1e+30 is out of range of int64"},
		{TypeInt64, uint64(1 << 63), Null(), "9223372036854775808 is out of range of int64"},
		{TypeInt64, "7", Null(), `"7" is a string, want int64`},
		{TypeInt64, true, Null(), "true is a boolean, want int64"},
		{TypeInt64, Uint64(7), Null(), "7u is uint64, want int64"},
		{TypeInt64, struct{}{}, Null(), "a Go value of type struct {} is no column value, want int64"},
		{TypeInt64, at, Null(), "2001-01-14T21:55:03Z is a time, want int64"},
		{TypeInt64, time.Second, Null(), "1s is a duration, want int64"},
		{TypeInt8, 200, Null(), "200 is out of range of int8"},
		{TypeUint64, 7, Uint64(7), ""},
		{TypeUint64, uint64(math.MaxUint64), Uint64(math.MaxUint64), ""},
		{TypeUint64, 18446744073709549568.0, Uint64(18446744073709549568), ""},
		{TypeUint64, -1, Null(), "-1 is negative, want uint64"},
		{TypeUint64, 18446744073709551616.0, Null(), "1.8446744073709552e+19 is out of range of uint64"},
		{TypeUint8, 256, Null(), "256u is out of range of uint8"},
		{TypeDouble, 1.5, Double(1.5), ""},
		{TypeDouble, 7, Double(7), ""},
		{TypeDouble, uint64(1 << 63), Double(1 << 63), ""},
		{TypeDouble, int64(1<<53 + 1), Null(), "9007199254740993 is not exact as a double"},
		{TypeDouble, int64(math.MaxInt64), Null(), "9223372036854775807 is not exact as a double"},
		{TypeDouble, uint64(math.MaxUint64), Null(), "18446744073709551615 is not exact as a double"},
		{TypeDouble, "1", Null(), `"1" is a string, want double`},
		{TypeFloat, 1e39, Null(), "1e+39 is out of range of float"},
		{TypeBoolean, true, Boolean(true), ""},
		{TypeBoolean, 1, Null(), "1 is an integer, want boolean"},
		{TypeBoolean, 1.0, Null(), "1.0 is a number, want boolean"},
		{TypeBoolean, uint64(math.MaxUint64), Null(), "18446744073709551615u is an integer, want boolean"},
		{TypeString, "\xff", String("\xff"), ""},
		{TypeString, []byte("ab"), String("ab"), ""},
		{TypeString, 5, Null(), "5 is an integer, want string"},
		{TypeUTF8, "\xff", Null(), `"\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
		{TypeAny, Any("{a=1}"), Any("{a=1}"), ""},
		{TypeAny, "text", Null(), `"text" is a string, want any`},
		{TypeTimestamp, at, Uint64(979509303123456), ""},
		{TypeTimestamp, "2001-01-14T21:55:03.123456Z", Uint64(979509303123456), ""},
		{TypeTimestamp, 979509303123456, Uint64(979509303123456), ""},
		{TypeTimestamp, "soon", Null(), `"soon" is no time such as 2006-01-02T15:04:05Z, want timestamp`},
		{TypeTimestamp, time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), Null(), "1969-01-01T00:00:00Z is out of range of timestamp"},
		{TypeTimestamp, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), Null(), "7258118400000000u is out of range of timestamp"},
		{TypeDatetime, at, Uint64(979509303), ""},
		{TypeDate, at, Uint64(11336), ""},
		{TypeInterval, -time.Second, Int64(-1e6), ""},
	} {
		got, err := tc.typ.Convert(tc.in)
		if got != tc.want || errorText(err) != tc.err {
			t.Errorf("%v of %v is %v, %q, want %v, %q", tc.typ, tc.in, got, errorText(err), tc.want, tc.err)
		}
	}
}

func TestConvertedColumnIsNamed(t *testing.T) {
	delay := Column{Name: "delay", Type: TypeInt64, Required: true}
	if _, err := delay.Convert(1.5); errorText(err) != "column delay: 1.5 has a fraction, want int64" {
		t.Errorf("got %v", err)
	}
	if _, err := delay.Convert(nil); errorText(err) != "column delay: null in a required column" {
		t.Errorf("got %v", err)
	}
	if _, err := delay.ParseText("x"); errorText(err) != `column delay: "x" is no number, want int64` {
		t.Errorf("got %v", err)
	}
	if v, err := delay.ParseText("5"); err != nil || v != Int64(5) {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestParseText(t *testing.T) {
	for _, tc := range []struct {
		typ  Type
		text string
		want Value
		err  string
	}{
		{TypeInt64, "-9223372036854775808", Int64(-1 << 63), ""},
		{TypeInt64, "3e2", Int64(300), ""},
		{TypeInt64, "1.5", Null(), `"1.5" has a fraction, want int64`},
		{TypeInt64, "9007199254740993.0", Int64(9007199254740993), ""},
		{TypeInt64, "+1.50e2", Int64(150), ""},
		{TypeInt64, "00.0e999999999999999999999", Int64(0), ""},
		{TypeInt64, "-9223372036854775809", Null(), `"-9223372036854775809" is out of range of int64`},
		{TypeInt64, "0009223372036854775809e1", Null(), `"92233720368547758090" is out of range of int64`},
		{TypeInt64, "9007199254740993.4", Null(), `"9007199254740993.4" has a fraction, want int64`},
		{TypeInt64, "1e-99999999999999999999", Null(), `"1e-99999999999999999999" has a fraction, want int64`},
		{TypeInt64, "0x10", Null(), `"0x10" is no number, want int64`},
		{TypeInt64, "nan", Null(), `"nan" is no number, want int64`},
		{TypeInt64, "+-5", Null(), `"+-5" is no number, want int64`},
		{TypeInt64, "9223372036854775808", Null(), "9223372036854775808 is out of range of int64"},
		{TypeInt64, "1e999", Null(), `"1e999" is out of range of int64`},
		{TypeInt64, "", Null(), `"" is no number, want int64`},
		{TypeUint64, "18446744073709551615", Uint64(math.MaxUint64), ""},
		{TypeUint64, "-1", Null(), "-1 is negative, want uint64"},
		{TypeDouble, "9007199254740993", Double(9007199254740992), ""},
		{TypeDouble, "18446744073709551615", Double(18446744073709551615), ""},
		{TypeDouble, "0.1", Double(0.1), ""},
		{TypeDouble, "-0", Double(math.Copysign(0, -1)), ""},
		{TypeBoolean, "true", Boolean(true), ""},
		{TypeBoolean, "false", Boolean(false), ""},
		{TypeBoolean, "yes", Null(), `"yes" is neither true nor false, want boolean`},
		{TypeString, "12", String("12"), ""},
		{TypeUTF8, "\xff", Null(), `"\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
		{TypeAny, "{a=1}", Any("{a=1}"), ""},
		{TypeTimestamp, "2001-01-14T21:55:03Z", Uint64(979509303000000), ""},
		{TypeTimestamp, "12", Uint64(12), ""},
		{TypeTimestamp, "now", Null(), `"now" is no time such as 2006-01-02T15:04:05Z, want timestamp`},
	} {
		got, err := tc.typ.ParseText(tc.text)
		if got != tc.want || errorText(err) != tc.err {
			t.Errorf("%v of %q is %v, %q, want %v, %q", tc.typ, tc.text, got, errorText(err), tc.want, tc.err)
		}
	}
}

// TestDecimalsAreIntegersExactlyOrNotAtAll compares with rational arithmetic.
func TestDecimalsAreIntegersExactlyOrNotAtAll(t *testing.T) {
	digits := rapid.StringMatching(`[+-]?[0-9]{1,22}(\.[0-9]{0,5}0{0,5})?(e[+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := digits.Draw(t, "text")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		for _, typ := range []Type{TypeInt64, TypeUint64} {
			v, err := typ.ParseText(text)
			fits := exact.IsInt() && (typ == TypeInt64 && exact.Num().IsInt64() || typ == TypeUint64 && exact.Num().IsUint64())
			if (err == nil) != fits || fits && plainText(v) != exact.Num().String() {
				t.Fatalf("%s of %s is %v, %v", typ, text, v, err)
			}
		}
	})
}

func TestIntegersConvertExactlyOrNotAtAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, u := rapid.Int64().Draw(t, "i"), rapid.Uint64().Draw(t, "u")
		if v, err := TypeInt64.ParseText(strconv.FormatInt(i, 10)); err != nil || v != Int64(i) {
			t.Fatalf("%d is %v, %v", i, v, err)
		}
		if v, err := TypeUint64.ParseText(strconv.FormatUint(u, 10)); err != nil || v != Uint64(u) {
			t.Fatalf("%d is %v, %v", u, v, err)
		}
		if v, err := TypeDouble.Convert(i); err == nil && int64(v.AsDouble()) != i {
			t.Fatalf("%d became %v", i, v)
		}
		if v, err := TypeDouble.Convert(u); err == nil && uint64(v.AsDouble()) != u {
			t.Fatalf("%d became %v", u, v)
		}
	})
}
