package connector_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

func TestMalformedMarksAnErrorAndKeepsWhatItSays(t *testing.T) {
	cause := fmt.Errorf("line 7: %w", fs.ErrInvalid)
	err := fmt.Errorf("source s: %w", connector.Malformed(cause))
	if err.Error() != "source s: line 7: invalid argument" {
		t.Errorf("it says %q", err)
	}
	if !errors.Is(err, connector.ErrMalformed) || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%v is not both what it was and malformed", err)
	}
	if errors.Is(cause, connector.ErrMalformed) {
		t.Error("the error itself was changed")
	}
}
