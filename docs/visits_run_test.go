//go:build unix

package docs

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// shown is a pipeline of a document, with functions of its own, in virtual time.
type shown struct {
	t              *testing.T
	document, spec string
	functions      map[string]flow.Factory
	dir            string
	store          store.Store
}

// show saves what a document shows of a pipeline.
func show(t *testing.T, document, spec string, functions map[string]flow.Factory) *shown {
	s := &shown{t, document, spec, functions, t.TempDir(), storetest.NewModel()}
	for _, b := range blocks(t, document) {
		b.save(t, s.dir)
	}
	return s
}

// newShop is the pipeline of visits.md.
func newShop(t *testing.T) *shown {
	return show(t, "visits.md", "shop.yaml", map[string]flow.Factory{
		"daily": func(flow.Setup) (flow.Function, error) {
			return &daily{flow.NewState[map[string]int64]("/paid", nil)}, nil
		},
		"tiers": func(setup flow.Setup) (flow.Function, error) {
			t := &tiers{state: flow.NewState[customer]("/customer", nil)}
			return t, setup.Parameters.Decode(t)
		},
	})
}

// run lets it run for some time, with one text of the spec in place of another.
func (s *shown) run(d time.Duration, former, now string) {
	s.t.Helper()
	p := s.prepare(former, now)
	time.AfterFunc(d, p.Pause)
	if _, err := p.Run(s.t.Context(), s.store); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shown) prepare(former, now string) *engine.Pipeline {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, s.spec))
	if err != nil || !bytes.Contains(text, []byte(former)) {
		s.t.Fatalf("%s without %q: %v", s.spec, former, err)
	}
	parsed, err := spec.Parse(s.spec, bytes.Replace(text, []byte(former), []byte(now), 1))
	if err != nil {
		s.t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	for name, f := range s.functions {
		err = errors.Join(err, functions.Register(name, f))
	}
	if err = errors.Join(err, file.Register(&connectors)); err != nil {
		s.t.Fatal(err)
	}
	p, err := engine.Prepare(s.t.Context(), engine.Options{
		Spec: parsed, Functions: &functions, Connectors: &connectors,
		SpecDir: s.dir, DataDir: filepath.Join(s.dir, "data"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// wrote compares what a sink wrote, in any order.
func (s *shown) wrote(name string, want []string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "data", name))
	if err != nil {
		s.t.Fatal(err)
	}
	if got := slices.Sorted(strings.Lines(string(text))); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		s.t.Errorf("%s has\n%q, the document says\n%q", name, got, want)
	}
}

// says are the lines that a document shows of a sink's file.
func says(t *testing.T, document, name string) []string {
	t.Helper()
	for _, b := range blocks(t, document) {
		if strings.HasSuffix(b.info, " out/"+name) {
			return slices.Collect(strings.Lines(b.text))
		}
	}
	t.Fatalf("%s does not show %s", document, name)
	return nil
}

func TestDailySumsAreWrittenWhenTheirDayIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t)
		s.run(8*time.Hour, "", "")
		s.wrote("sums.jsonl", says(t, "visits.md", "sums.jsonl"))
	})
}

func TestANewThresholdReachesEveryKeyInOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := newShop(t), says(t, "visits.md", "changes.jsonl")
		s.run(30*time.Hour, "", "")
		s.wrote("changes.jsonl", want[:2])
		s.run(30*time.Hour, "gold: 1000", "gold: 500")
		s.wrote("changes.jsonl", want)
	})
}

func TestTheFunctionsShownAreThoseThatRun(t *testing.T) {
	for document, sources := range map[string][]string{
		"visits.md": {"daily_test.go", "tiers_test.go"}, "external.md": {"accounts_test.go"}, "time.md": {"timers_test.go"},
	} {
		var source []byte
		for _, name := range sources {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		count := 0
		for _, b := range blocks(t, document) {
			if b.info != "go" {
				continue
			}
			if count++; !bytes.Contains(source, []byte(b.text)) {
				t.Errorf("%s, line %d: the function is not what is tested:\n%s", document, b.line, b.text)
			}
		}
		if count != len(sources) {
			t.Errorf("%s shows %d functions", document, count)
		}
	}
}
