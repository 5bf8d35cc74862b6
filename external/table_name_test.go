package external

import (
	"strings"
	"testing"
)

func TestNamesOfTables(t *testing.T) {
	for _, name := range []string{"//t", "//home/accounts", "b://t", "t", "//home/caf\u00e9", "//" + strings.Repeat("a", 998)} {
		if err := CheckTableName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "//", "/t", "//a//b", "//a/", "///a", "b://", "//a\n", "//a\x00", "//\xff", "//a#import", "//" + strings.Repeat("a", 999)} {
		if err := CheckTableName(name); err == nil || !strings.Contains(err.Error(), "names look like") {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if err := CheckStagedName(StagingName("//a")); err != nil {
		t.Error(err)
	}
	if err := CheckStagedName(StagingName(StagingName("//a"))); err == nil {
		t.Error("what is being filled can be replaced by what is being filled")
	}
}
