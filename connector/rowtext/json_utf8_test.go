package rowtext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestAnyBytesBecomeUTF8(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"b"}`:          `{"a":"b"}`,
		"{\"a\":\"\xff\"}":   `{"a":{"$base64":"/w=="}}`,
		"{\"\xff\" : \"ä\"}": `{"` + "\uFFFD" + `" : "ä"}`,
		"{\"a\\n\xff\":[1,\"x\\\"\",\"\\u00e4\xff\",{\"b\":\"\"}]}": `{"a\n` + "\uFFFD" + `":[1,"x\"",{"$base64":"w6T/"},{"b":""}]}`,
		"{\"a\":\"b\"} \xff": "{\"a\":\"b\"} \xff",
		"{\"a\":\"\xff":      "{\"a\":\"\xff",
		"":                   "",
	} {
		if got := string(AppendUTF8([]byte("-"), text)); got != "-"+want {
			t.Errorf("%q became\n%q, want\n%q", text, got[1:], want)
		}
	}
}

// FuzzAnyBytesBecomeUTF8: a text that is JSON but for the bytes in its strings
// becomes JSON in UTF-8, and one that is both stays as it is.
func FuzzAnyBytesBecomeUTF8(f *testing.F) {
	f.Add("{\"a\":[\"\xff\",\"\\\\\"],\"\xc3\":1}")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(AppendUTF8(nil, text))
		switch {
		case utf8.ValidString(text) && got != text:
			t.Errorf("%q became %q", text, got)
		case json.Valid([]byte(text)) && (!json.Valid([]byte(got)) || !utf8.ValidString(got)):
			t.Errorf("%q became %q, which is no JSON in UTF-8", text, got)
		}
	})
}
