package rowtext

import (
	"testing"

	"github.com/rondo-flow/rondo/schema"
)

func TestWhatIsTypedForAnAnyColumnIsJSONOrYSON(t *testing.T) {
	col := &schema.Column{Name: "z", Type: schema.TypeAny}
	for text, want := range map[string]string{`{"x":1}`: `{"x"=1}`, `{x=1}`: `{x=1}`, `true`: `%true`, `"a"`: `"a"`, `[1;2]`: `[1;2]`} {
		v, err := ParseAny(col, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := ParseAny(col, v.AsString())
		if err != nil || v.AsString() != want {
			t.Errorf("%s: got %s, want %s (again: %v, %v)", text, v.AsString(), want, got, err)
		}
	}
	if v, err := ParseAny(col, `{"x":`); err == nil {
		t.Errorf("half a value became %s", v.AsString())
	}
}
