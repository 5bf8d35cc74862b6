package main

import "testing"

func TestNamesAreSeenAsTheyAre(t *testing.T) {
	for name, want := range map[nameText][2]string{
		"orders":   {`orders`, `"orders"`},
		"ünï a<b":  {`ünï a<b`, `"ünï a<b"`},
		"":         {`""`, `""`},
		"a\nb":     {`"a\nb"`, `"a\nb"`},
		"\x1b[31m": {`"\x1b[31m"`, `"\u001b[31m"`},
		"\xffq":    {`"\xffq"`, `{"$base64":"/3E="}`},
		"a\u200bb": {`"a\u200bb"`, "\"a\u200bb\""},
	} {
		json, err := name.MarshalJSON()
		if name.String() != want[0] || string(json) != want[1] || err != nil {
			t.Errorf("%q shows as %s and %s (%v), want %s and %s", string(name), name, json, err, want[0], want[1])
		}
	}
}

func TestMessagesDoNotSteerTheTerminal(t *testing.T) {
	if got, want := visible("a: \x1b[31mé\xff\n\tb\r\u0085"), "a: \\x1b[31mé\\xff\n\tb\\r\\u0085"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
