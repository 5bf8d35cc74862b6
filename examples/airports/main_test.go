package main

import (
	"strings"
	"testing"
)

// want is what the scenes must come to, whatever happens in between.
const want = `the table as it is:          3376 created, 0 updated, 0 deleted
a second version:            3476 created, 16 updated, 263 deleted
the file is lost:            3476 created, 16 updated, 263 deleted
and is back:                 3476 created, 16 updated, 263 deleted
it is cut off:               3476 created, 16 updated, 263 deleted
something else is there:     3476 created, 16 updated, 263 deleted
nearly everything is gone:   3476 created, 16 updated, 263 deleted
the first version again:     3739 created, 32 updated, 363 deleted
`

func TestTheMirrorFollowsTheTableAndLosesNothingInOutages(t *testing.T) {
	t.Run("JN-19 each version, and none of the faults between them", func(t *testing.T) {
		var out strings.Builder
		if err := run(".", t.TempDir(), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}
