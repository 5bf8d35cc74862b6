package engine

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// What is stored tells the same of a stopped pipeline as the pipeline told when it
// stopped: in the middle of passes, and when all is completed.
func TestAStoppedPipelineIsDescribedAsItStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 300, 30)
		s := storetest.NewModel()
		r.period = "7s"
		p := r.start(s)
		<-time.After(17 * time.Second)
		p.pause()
		v := compareWithStored(t, p.Pipeline, s)
		if v.Empty || v.Pass != 3 || v.Progress == 0 || v.Progress == 1 || len(v.Parts) != 3 {
			t.Errorf("it stopped in %+v, want the middle of pass 3", v.Status)
		}
		close(r.gate)
		last := r.pipeline()
		if _, err := last.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if v := compareWithStored(t, last, s); !v.Empty || v.Progress != 1 {
			t.Errorf("it completed in %+v", v.Status)
		}
	})
}

// compareWithStored compares what a pipeline tells with what is read from its
// store, and returns the latter.
func compareWithStored(t *testing.T, p *Pipeline, s store.Store) VisitStream {
	t.Helper()
	status, err := StoredStatus(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	told := p.Status()
	if status.Completed != told.Completed || status.Messages != told.Messages || status.Visits != told.Visits || len(status.Partitions) != len(told.Partitions) {
		t.Errorf("stored %+v, told %+v", status.Summary, told.Summary)
	}
	for i, part := range status.Partitions {
		if want := told.Partitions[i]; part.ID != want.ID || !reflect.DeepEqual(part.Totals, want.Totals) || part.Phase != Stopped && part.Phase != Done {
			t.Errorf("stored %+v, told %+v", part, want)
		}
	}
	in, err := s.Pipeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sp, err := spec.Stored(in.Name, "rig.yson", in.Static, in.Dynamic)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := StoredVisitStreams(t.Context(), s, sp)
	if err != nil || len(stored) != 1 || stored[0].Computation != "counter" || stored[0].Stream != "sweep" {
		t.Fatalf("stored visit streams %+v, %v", stored, err)
	}
	// Ranges without keys are committed with the next visits, or read again.
	for i, want := range p.VisitStreams()[0].Parts {
		got := stored[0].Parts[i]
		if got.Partition != want.Partition || got.Pass != want.Pass || got.Progress > want.Progress || got.Progress < want.Progress-0.2 || got.Counters != want.Counters || got.Empty != want.Empty {
			t.Errorf("stored %s, told %s", got.Status, want.Status)
		}
	}
	passes, err := p.Passes("counter", "sweep")
	if err != nil || !reflect.DeepEqual(stored[0].Passes, passes) {
		t.Errorf("stored passes %+v, told %+v, %v", stored[0].Passes, passes, err)
	}
	return stored[0].VisitStream
}
