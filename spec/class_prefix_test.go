package spec

import (
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
	field := func(class string) *yson.Node {
		return yson.Map(yson.Entry{Key: "class_name", Value: yson.String(class)})
	}
	for _, prefix := range []string{"", classPrefix} {
		if !isSimpleManager(field(prefix+simpleManagerClass)) || isSimpleManager(field(prefix+simpleJoinerClass)) {
			t.Errorf("managers with the prefix %q", prefix)
		}
		if !isKnownJoiner(field(prefix+simpleJoinerClass)) || !isKnownJoiner(field(prefix+visitorJoinerClass)) || isKnownJoiner(field(prefix+"TOther")) {
			t.Errorf("joiners with the prefix %q", prefix)
		}
		if !(&ExternalJoiner{ClassName: prefix + visitorJoinerClass}).VisitorDriven() {
			t.Errorf("the static table with the prefix %q is no visitor", prefix)
		}
	}
}
