package crash

import (
	"strings"
	"testing"
)

// TestAccountsThatAreWrongAreFound: the check of a ledger finds what it is for.
func TestAccountsThatAreWrongAreFound(t *testing.T) {
	row := `{"what":"row","stream":"","key":1,"trigger":0,"nth":0}`
	second := `{"what":"row","stream":"","key":1,"trigger":1,"nth":1}`
	set := `{"what":"set","stream":"event","key":1,"trigger":5,"nth":-1}`
	fired := `{"what":"fired","stream":"event","key":1,"trigger":5,"nth":0}`
	visit := `{"what":"visit","stream":"","key":1,"trigger":1,"nth":1}`
	final := `{"what":"visit","stream":"final","key":1,"trigger":2,"nth":2}`
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"all is well":                 {[]string{row, set, visit, second, fired, final}, ""},
		"a row is lost":               {[]string{row, set, visit, fired, strings.Replace(final, `"nth":2`, `"nth":1`, 1)}, "1 rows are counted"},
		"a row is counted twice":      {[]string{row, set, visit, strings.Replace(second, `"trigger":1`, `"trigger":0`, 1), fired, final}, "counted twice"},
		"state and output fall apart": {[]string{row, set, second, visit, fired, final}, "it says 1 rows"},
		"a timer is lost":             {[]string{row, set, visit, second, final}, "1 were set, and 0 fired"},
		"a timer fires twice":         {[]string{row, set, visit, second, fired, strings.Replace(fired, `"nth":0`, `"nth":1`, 1), final}, "not the next one"},
		"a key is visited twice":      {[]string{row, set, visit, visit, second, fired, final}, "the visit before was in pass 1"},
		"a pass leaves a key out":     {[]string{row, set, visit, second, fired, strings.Replace(final, `"trigger":2`, `"trigger":3`, 1)}, "the visit before was in pass 1"},
		"the final visit is missing":  {[]string{row, set, visit, second, fired}, "no final visit"},
		"something comes after it":    {[]string{row, set, visit, second, final, fired}, "after the final visit"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkAccounts(strings.Join(c.lines, "\n"), 2, false)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
