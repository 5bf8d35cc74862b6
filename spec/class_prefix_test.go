package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/yson"
)

func TestNamesOfClassesDoNotNeedTheirPrefix(t *testing.T) {
	for _, c := range Classes() {
		for _, name := range []string{c.String(), c.LongName(), strings.TrimPrefix(c.LongName(), classPrefix)} {
			if got, err := ParseClass(name); got != c || err != nil {
				t.Errorf("%s is %s, %v", name, got, err)
			}
		}
	}
	runs := func(kind, class string) bool {
		i := slices.IndexFunc(unavailable, func(u Unavailability) bool { return u.field == kind+"_class_name" })
		return unavailable[i].refusedClass(yson.Map(yson.Entry{Key: "class_name", Value: yson.String(class)})) == ""
	}
	for _, prefix := range []string{"", classPrefix} {
		if !runs("external_state_manager", prefix+simpleManagerClass) || runs("external_state_manager", prefix+simpleJoinerClass) {
			t.Errorf("managers with the prefix %q", prefix)
		}
		if !runs("external_state_joiner", prefix+simpleJoinerClass) || !runs("external_state_joiner", prefix+visitorJoinerClass) || runs("external_state_joiner", prefix+"TOther") {
			t.Errorf("joiners with the prefix %q", prefix)
		}
		if !(&ExternalJoiner{ClassName: prefix + visitorJoinerClass}).VisitorDriven() {
			t.Errorf("the static table with the prefix %q is no visitor", prefix)
		}
	}
}
