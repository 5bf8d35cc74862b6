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

// shop is the pipeline of visits.md with functions of its own, in virtual time.
type shop struct {
	t     *testing.T
	dir   string
	store store.Store
}

func newShop(t *testing.T) *shop {
	s := &shop{t, t.TempDir(), storetest.NewModel()}
	for _, b := range blocks(t, "visits.md") {
		b.save(t, s.dir)
	}
	return s
}

// run lets it run for some time, with one text of the spec in place of another.
func (s *shop) run(d time.Duration, former, now string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "shop.yaml"))
	if err != nil || !bytes.Contains(text, []byte(former)) {
		s.t.Fatalf("shop.yaml without %q: %v", former, err)
	}
	parsed, err := spec.Parse("shop.yaml", bytes.Replace(text, []byte(former), []byte(now), 1))
	if err != nil {
		s.t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	err = errors.Join(
		functions.Register("daily", func(flow.Setup) (flow.Function, error) {
			return &daily{flow.NewState[map[string]int64]("/paid", nil)}, nil
		}),
		functions.Register("tiers", func(setup flow.Setup) (flow.Function, error) {
			t := &tiers{state: flow.NewState[customer]("/customer", nil)}
			return t, setup.Parameters.Decode(t)
		}),
		file.Register(&connectors))
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := engine.Prepare(s.t.Context(), engine.Options{
		Spec: parsed, Functions: &functions, Connectors: &connectors,
		SpecDir: s.dir, DataDir: filepath.Join(s.dir, "data"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	time.AfterFunc(d, p.Pause)
	if _, err := p.Run(s.t.Context(), s.store); err != nil {
		s.t.Fatal(err)
	}
}

// wrote compares what a sink wrote, in any order.
func (s *shop) wrote(name string, want []string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "data", name))
	if err != nil {
		s.t.Fatal(err)
	}
	if got := slices.Sorted(strings.Lines(string(text))); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		s.t.Errorf("%s has\n%q, the document says\n%q", name, got, want)
	}
}

// says are the lines that the document shows of a sink's file.
func says(t *testing.T, name string) []string {
	t.Helper()
	for _, b := range blocks(t, "visits.md") {
		if strings.HasSuffix(b.info, " out/"+name) {
			return slices.Collect(strings.Lines(b.text))
		}
	}
	t.Fatalf("visits.md does not show %s", name)
	return nil
}

func TestDailySumsAreWrittenWhenTheirDayIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t)
		s.run(8*time.Hour, "", "")
		s.wrote("sums.jsonl", says(t, "sums.jsonl"))
	})
}

func TestANewThresholdReachesEveryKeyInOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := newShop(t), says(t, "changes.jsonl")
		s.run(30*time.Hour, "", "")
		s.wrote("changes.jsonl", want[:2])
		s.run(30*time.Hour, "gold: 1000", "gold: 500")
		s.wrote("changes.jsonl", want)
	})
}

func TestTheFunctionsOfVisitsAreThoseThatRun(t *testing.T) {
	var source []byte
	for _, name := range []string{"daily_test.go", "tiers_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	shown := 0
	for _, b := range blocks(t, "visits.md") {
		if b.info != "go" {
			continue
		}
		if shown++; !bytes.Contains(source, []byte(b.text)) {
			t.Errorf("line %d: the function is not what is tested:\n%s", b.line, b.text)
		}
	}
	if shown != 2 {
		t.Errorf("%d functions are shown", shown)
	}
}
