package connector_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

func TestARegistryHasEachClassOnce(t *testing.T) {
	var r connector.Registry
	made := errors.New("made by this factory")
	source := func(connector.Setup) (connector.Source, error) { return nil, made }
	sink := func(connector.Setup) (connector.Sink, error) { return nil, made }
	for _, class := range []string{"queue", "NYT::NFlow::TQueueSource", "file"} {
		if err := errors.Join(r.AddSource(class, source), r.AddSink(class, sink)); err != nil {
			t.Fatal(err)
		}
	}
	for _, class := range []string{"", "file"} {
		if r.AddSource(class, source) == nil || r.AddSink(class, sink) == nil {
			t.Errorf("added the class %q", class)
		}
	}
	if r.AddSource("none", nil) == nil || r.AddSink("none", nil) == nil || r.AddStoreSink("none", nil) == nil {
		t.Error("added a class without a factory")
	}
	want := []string{"NYT::NFlow::TQueueSource", "file", "queue"}
	if got := r.SourceClasses(); !slices.Equal(got, want) {
		t.Errorf("sources %q, want %q", got, want)
	}
	if got := r.SinkClasses(); !slices.Equal(got, want) {
		t.Errorf("sinks %q, want %q", got, want)
	}
	makeSource, ok := r.Source("file")
	if !ok {
		t.Fatal("no source file")
	}
	makeSink, ok := r.Sink("file")
	if !ok {
		t.Fatal("no sink file")
	}
	_, err := makeSource(connector.Setup{})
	_, err2 := makeSink(connector.Setup{})
	if err != made || err2 != made {
		t.Errorf("other factories are there: %v, %v", err, err2)
	}
	_, source1 := r.Source("other")
	_, sink1 := r.Sink("other")
	if source1 || sink1 {
		t.Error("a class that nobody added is there")
	}
}
