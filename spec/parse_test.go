package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// TestSpecs runs the scripts in testdata/specs. The command is the notation,
// the input a specification file. Out come its problems, or its notes, what is
// ignored, and what each computation resolved to. With the argument future,
// nothing is refused for not being available yet.
func TestSpecs(t *testing.T) {
	datadriven.Walk(t, "testdata/specs", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := parse(d)
			var problems yson.Problems
			switch {
			case errors.As(err, &problems):
				return problems.Error() + "\n"
			case err != nil:
				d.Fatalf(t, "%v", err)
			}
			return describe(s)
		})
	})
}

func parse(d *datadriven.TestData) (*Spec, error) {
	path := "folder/test." + d.Cmd
	if !d.HasArg("future") {
		return Parse(path, []byte(d.Input))
	}
	format, err := yson.FormatOf(path)
	if err != nil {
		return nil, err
	}
	root, err := yson.Parse([]byte(d.Input), format)
	if err != nil {
		return nil, err
	}
	c := newChecker(path, root)
	c.check()
	return c.result()
}

// describe prints what a valid specification resolved to.
func describe(s *Spec) string {
	var b strings.Builder
	for _, id := range s.Pipeline.ComputationIDs() {
		comp := s.Pipeline.Computations[id]
		fmt.Fprintf(&b, "%s: %s %v -> %v\n", id, comp.Class, append(comp.Inputs, comp.SourceIDs()...), comp.Outputs)
		for _, child := range sorted(comp.Dependencies) {
			fmt.Fprintf(&b, "  %s <- %v\n", child, comp.Dependencies[child])
		}
		for _, visit := range comp.VisitStreamIDs() {
			v := comp.VisitStreams[visit]
			fmt.Fprintf(&b, "  %s: follows %v, internal %v %v, external %v, %d buckets\n", visit, v.Upstream, v.ScansInternal(), v.Names, v.ExternalNames, v.BucketCount)
		}
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for _, path := range s.Ignored {
		fmt.Fprintf(&b, "ignored: %s\n", path)
	}
	return b.String()
}

func load(t *testing.T, path string) *Spec {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheFlightsJob(t *testing.T) {
	s := load(t, "testdata/flights/pipeline.yson")
	if s.Name != "flights" || s.Path != "testdata/flights/pipeline.yson" || len(s.Notes)+len(s.Ignored) > 0 {
		t.Errorf("name %s, path %s, notes %q, ignored %q", s.Name, s.Path, s.Notes, s.Ignored)
	}
	reader, routes := s.Pipeline.Computations["reader"], s.Pipeline.Computations["routes"]
	if reader.Class != ClassSourcePassthrough || routes.Class != ClassTransform {
		t.Errorf("classes %s, %s", reader.Class, routes.Class)
	}
	if a := reader.Watermark.Assigner; a.Column != "date" || !a.IsLayout() || a.LimitBySystemTimestamp {
		t.Errorf("assigner %+v", a)
	}
	file := reader.Sources["file"]
	if file.ID != "file" || file.ClassName != "file" || file.Parameters.Get("path").Text != "data/flights-20k.jsonl" {
		t.Errorf("source %+v", file)
	}
	if routes.ProcessingFunction != "rollup" || routes.FunctionParameters.Get("on_visit").Get("emit").Text != "snapshots" || routes.Node.Get("sinks") == nil {
		t.Errorf("function %s %v", routes.ProcessingFunction, routes.FunctionParameters)
	}
	if sink := routes.Sinks["evicted"]; sink.ID != "evicted" || sink.ClassName != "file" || !slices.Equal(sink.Inputs, []string{"evicted"}) {
		t.Errorf("sink %+v", sink)
	}
	if hash := routes.GroupBy.Columns()[0]; hash.Expression != "farm_hash(origin, destination)" || hash.Type != schema.TypeUint64 || !hash.Required {
		t.Errorf("hash column %+v", hash)
	}
	want := map[string][]string{"snapshots": {"sweep"}, "evicted": {"sweep"}}
	if !reflect.DeepEqual(routes.Dependencies, want) || !reflect.DeepEqual(reader.Dependencies, map[string][]string{"flights": {"file"}}) {
		t.Errorf("dependencies %v, %v", routes.Dependencies, reader.Dependencies)
	}
	if sweep := routes.VisitStreams["sweep"]; sweep.ID != "sweep" || sweep.BucketCount != 8 || !slices.Equal(sweep.Upstream, []string{"flights"}) || !sweep.ScansInternal() {
		t.Errorf("visit stream %+v", sweep)
	}
	d := s.Dynamic.Computation("routes")
	if *d.DesiredPartitionCount != 3 || d.PartitionCount(16) != 3 || d.VisitStream("sweep").Period != 2*time.Second || d.VisitStream("sweep").BackgroundFillPeriod != 50*time.Millisecond {
		t.Errorf("dynamic %+v %+v", d, d.VisitStream("sweep"))
	}
	if p := s.Pipeline.Producer("snapshots"); p != routes || s.Pipeline.Producer("nothing") != nil {
		t.Errorf("producer %v", p)
	}
	if c := s.Pipeline.Consumers("flights"); !slices.Equal(c, []*Computation{routes}) {
		t.Errorf("consumers %v", c)
	}
	if ids := s.Pipeline.StreamIDs(); !slices.Equal(ids, []string{"evicted", "flights", "snapshots"}) {
		t.Errorf("streams %v", ids)
	}
}

func TestDynamicDefaults(t *testing.T) {
	var d Dynamic
	c := d.Computation("anything")
	want := DynamicComputation{
		BatchDuration: time.Second, EmptyBatchBackoff: 250 * time.Millisecond, MaxRowsPerBatch: 1000, MaxBytesPerBatch: 10_000_000,
		MaxEpochDuration: 100 * time.Millisecond, InboxRowLimit: 100_000, InboxByteLimit: 64 << 20,
		PartitionCounts: PartitionCounts{
			MinPartitionCount: 3, MaxPartitionCount: 20_000, DesiredMessages: 10_000,
			AllowedDeviation: 1.1, DoubleDelay: 20 * time.Minute, HalfDelay: 200 * time.Minute,
		},
		OnMessageError: "fail", OnTimerError: "fail",
	}
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("computation defaults are\n%+v\nwant\n%+v", *c, want)
	}
	visit := DynamicVisitStream{
		Period: 24 * time.Hour, MaxScanRowsPerIteration: 10_000, BufferRowLimit: 5_000, BufferByteLimit: 16 << 20,
		BackgroundFillPeriod: 500 * time.Millisecond, Finite: true, FullFinalPass: true, CatchupLagThreshold: time.Minute,
		CatchupSpeedupMultiplier: 1.2, VisitShare: 0.25, OnVisitError: "fail", Enabled: true,
	}
	if got := c.VisitStream("anything"); !reflect.DeepEqual(*got, visit) {
		t.Errorf("visit defaults are\n%+v\nwant\n%+v", *got, visit)
	}
}

func TestPartitionCountsWithoutDesired(t *testing.T) {
	c := (&Dynamic{}).Computation("x")
	c.MaxPartitionCount = 10
	for cores, want := range map[int]int{1: 3, 2: 4, 4: 8, 5: 10, 64: 10} {
		if got := c.PartitionCount(cores); got != want {
			t.Errorf("%d cores have %d partitions, want %d", cores, got, want)
		}
	}
}

// TestStoredSpecIsTheSame writes the texts to a store and reads them back.
func TestStoredSpecIsTheSame(t *testing.T) {
	s := load(t, "testdata/flights/pipeline.yson")
	again, err := Stored(s.Name, s.Path, s.StaticText, s.DynamicText)
	if err != nil {
		t.Fatal(err)
	}
	if describe(again) != describe(s) || again.StaticText != s.StaticText || again.DynamicText != s.DynamicText || again.Name != s.Name {
		t.Fatalf("stored as\n%s\nread as\n%s", describe(s), describe(again))
	}
	for _, texts := range [][2]string{{"{", "{}"}, {"{}", "{"}} {
		if _, err := Stored("x", "x.yson", texts[0], texts[1]); err == nil || !strings.Contains(err.Error(), "dynamic spec of x") && !strings.Contains(err.Error(), "static spec of x") {
			t.Errorf("%q: %v", texts, err)
		}
	}
}

// TestTextsCompareWhatIsMeant checks that notation and order make no change.
func TestTextsCompareWhatIsMeant(t *testing.T) {
	yaml := load(t, "testdata/flights/same.yaml")
	text := load(t, "testdata/flights/pipeline.yson")
	if yaml.StaticText != text.StaticText || yaml.DynamicText != text.DynamicText {
		t.Fatalf("the same specification differs:\n%s\n%s", yaml.StaticText, text.StaticText)
	}
	if yaml.Name != "same" {
		t.Errorf("a file named same.yaml gives the name %s", yaml.Name)
	}
}

func TestNameOfAPipelineFileIsItsFolders(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my-job")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	data, err := yson.Parse([]byte(`{spec={computations={}}}`), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"pipeline.yson": "my-job", "a/pipeline.yaml": "a", "a b/pipeline.json": "pipeline", "x/job.yson": "job"} {
		if got := defaultName(path); got != want {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
	}
	if _, err := FromNode("a b.yson", data); err == nil || !strings.Contains(err.Error(), `"a b" cannot name a pipeline`) {
		t.Errorf("got %v", err)
	}
}

func TestUnreadableFiles(t *testing.T) {
	if _, err := Parse("spec.txt", nil); err == nil || !strings.Contains(err.Error(), "rename the file") {
		t.Errorf("got %v", err)
	}
	_, err := Parse("spec.yson", []byte("{spec = {\n  a = 1,\n}}"))
	var problems yson.Problems
	if !errors.As(err, &problems) || problems[0].Line != 2 || problems[0].Column != 8 {
		t.Errorf("got %v", err)
	}
}

func TestClassesByBothNames(t *testing.T) {
	for _, c := range Classes() {
		for _, name := range []string{c.String(), c.LongName()} {
			if got, err := ParseClass(name); err != nil || got != c {
				t.Errorf("%s is %v, %v", name, got, err)
			}
		}
	}
	for name, want := range map[string]string{
		"tranform":                               "did you mean transform?",
		"NYT::NFlow::TProcesFunctionComputation": "did you mean NYT::NFlow::TProcessFunctionComputation?",
		"reduce":                                 "use transform, swift_map, source,",
	} {
		if _, err := ParseClass(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if Class(0).String() != "unknown" || Class(200).LongName() != "unknown" || Class(200).String() != "unknown" || Class(0).IsSource() {
		t.Error("unknown classes pass for known ones")
	}
}

// FuzzParse reads any text as a specification: problems, never a panic. What is
// valid can be stored, and means the same with everything filled in. The seeds
// are the specifications of all scripts.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/flights/pipeline.yson")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data), false)
	scripts, err := filepath.Glob("testdata/specs/*")
	if err != nil || len(scripts) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		datadriven.RunTestAny(f, path, func(_ testing.TB, d *datadriven.TestData) string {
			f.Add(d.Input, d.Cmd == "yaml")
			return d.Expected
		})
	}
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		path := "fuzz.yson"
		if yaml {
			path = "fuzz.yaml"
		}
		s, err := Parse(path, []byte(text))
		if err != nil {
			return
		}
		if _, err := Stored(s.Name, s.Path, s.StaticText, s.DynamicText); err != nil {
			t.Fatalf("a valid specification is refused when stored: %v", err)
		}
		if _, err := FromNode(path, s.Effective()); err != nil {
			t.Fatalf("a valid specification is refused with everything filled in: %v", err)
		}
	})
}
