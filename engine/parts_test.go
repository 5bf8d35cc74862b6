package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store/storetest"
)

// TestASinkThatCannotBeWrittenInPartsIsNoClusters: it is refused before anything is
// stored (D-26).
func TestASinkThatCannotBeWrittenInPartsIsNoClusters(t *testing.T) {
	s := storetest.NewModel()
	err := newRig(t, 10, 2).pipeline().Submit(t.Context(), s)
	if !errors.Is(err, errNoParts) || !strings.Contains(err.Error(), "counter/sinks/out") {
		t.Error(err)
	}
	if p, err := s.Pipeline(t.Context()); p != nil || err != nil {
		t.Errorf("a pipeline is stored: %+v, %v", p, err)
	}
}
