package spec

import (
	"os"
	"testing"
)

func TestFlights(t *testing.T) {
	data, err := os.ReadFile("testdata/flights/pipeline.yson")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("testdata/flights/pipeline.yson", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Name, s.Notes, s.Ignored, s.Pipeline.Computations["routes"].Dependencies, s.Pipeline.Computations["routes"].VisitStreams["sweep"])
	t.Log(s.Dynamic.Computation("routes").VisitStream("sweep"), *s.Dynamic.Computation("routes").DesiredPartitionCount)
	t.Log(s.StaticText, s.DynamicText)
}
