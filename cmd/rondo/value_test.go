package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rondo-flow/rondo/flow"
	"pgregory.net/rapid"
)

func TestAValueIsShownAsWhatItIs(t *testing.T) {
	for _, c := range []struct{ name, hex, want string }{
		{"an integer", "1864", "100"},
		{"the largest", "1bffffffffffffffff", "18446744073709551615"},
		{"a negative one", "3903e7", "-1000"},
		{"the smallest", "3bffffffffffffffff", "-18446744073709551616"},
		{"a short float", "f93e00", "1.5"},
		{"the least short float", "f90001", "5.960464477539063e-08"},
		{"infinity", "f9fc00", `"-Infinity"`},
		{"no number", "f97e00", `"NaN"`},
		{"a float", "fa47c35000", "100000"},
		{"a double", "fb3ff199999999999a", "1.1"},
		{"booleans and nothing", "84f4f5f6f7", "[false,true,null,null]"},
		{"a text", "6449455446", `"IETF"`},
		{"a text with signs of HTML", "663c613e26223c", `"<a>&\"<"`},
		{"bytes", "4401020304", `{"$base64":"AQIDBA=="}`},
		{"a text that is none", "62c328", `{"$base64":"wyg="}`},
		{"a map", "a26161016162820203", `{"a":1,"b":[2,3]}`},
		{"a map by numbers", "a201020304", `{"1":2,"3":4}`},
		{"a tagged time", "c11a514b67b0", "1363896240"},
		{"lengths that are not told", "bf61610161629f0203ffff", `{"a":1,"b":[2,3]}`},
		{"a text in chunks", "7f657374726561646d696e67ff", `"streaming"`},
		{"text", hex.EncodeToString([]byte("not CBOR, but text")), `"not CBOR, but text"`},
		{"CBOR with something behind", "0102", `{"$base64":"AQI="}`},
		{"half an item", "a26161", `{"$base64":"omFh"}`},
		{"an array with more items than bytes", "9bffffffffffffffff01", `{"$base64":"m///////////AQ=="}`},
		{"a break alone", "ff", `{"$base64":"/w=="}`},
		{"a list within lists without end", strings.Repeat("81", 600) + "01", `{"$base64":"` + base64.StdEncoding.EncodeToString(append([]byte(strings.Repeat("\x81", 600)), 1)) + `"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			if got := valueText(b); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

type shown struct {
	Count int64             `json:"count" cbor:"count"`
	Ratio float64           `json:"ratio" cbor:"ratio"`
	Names map[string]string `json:"names" cbor:"names"`
	Last  []uint64          `json:"last" cbor:"last"`
	On    *bool             `json:"on" cbor:"on"`
}

// TestWhatTheDefaultCodecWritesIsShownAsJSON that means the same.
func TestWhatTheDefaultCodecWritesIsShownAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := shown{
			Count: rapid.Int64().Draw(t, "count"), Ratio: rapid.Float64().Draw(t, "ratio"),
			Names: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "names"),
			Last:  rapid.SliceOf(rapid.Uint64()).Draw(t, "last"), On: rapid.Ptr(rapid.Bool(), true).Draw(t, "on"),
		}
		if math.IsInf(want.Ratio, 0) || math.IsNaN(want.Ratio) {
			want.Ratio = 0
		}
		b, err := flow.CBOR[shown]().Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got shown
		if text := valueText(b); json.Unmarshal([]byte(text), &got) != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v is shown as %s, which is %+v", want, text, got)
		}
	})
}

// FuzzValue: any bytes are shown as valid JSON, in one line.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"", "\xa1\x61a\x01", "text", "\x9f\x01\xff", "\xc2\x41\x01", "\xbf\x01\x02\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := valueText(b)
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || strings.Contains(text, "\n") {
			t.Fatalf("%x is shown as %q", b, text)
		}
	})
}
