package engine

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// alone is the place of the only worker, which has every partition.
type alone struct{ view store.View }

func (alone) Worker() string                               { return "" }
func (a *alone) View() (*store.View, <-chan struct{})      { return &a.view, nil }
func (alone) Now() int64                                   { return time.Now().UnixNano() }
func (alone) Lacks([]Lack)                                 {}
func (alone) Stranded([]store.Partition) map[string]string { return nil }
func (alone) Tell(func() []byte)                           {}
func (alone) Hear(context.Context) (*Heard, error)         { return &Heard{}, nil }

// TestAWorkerJoinsTablesInTheStore: it finds the pipeline that was submitted, and the
// tables in the store, as the process does that has the store for itself.
func TestAWorkerJoinsTablesInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		p := newPlaces(t, s, "key")
		p.replace(50, 1)
		prepare := func(member Membership) *Pipeline {
			text, err := spec.Parse("mirror.yson", fmt.Appendf(nil, mirrorSpec, `"//places"`, ""))
			p.must(err)
			var functions flow.Registry
			p.must(function.Register(&functions))
			made, err := Prepare(t.Context(), Options{
				Spec: text, Functions: &functions, DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Member: member,
			})
			p.must(err)
			return made
		}
		p.must(prepare(nil).Submit(t.Context(), s))
		m := &mirrorRig{Pipeline: prepare(&alone{store.View{Layout: 1, Unfinished: 1}}), t: t, done: make(chan error, 1)}
		go func() {
			_, err := m.Run(t.Context(), s)
			m.done <- err
		}()
		m.want("the worker runs", 50)
		m.stop()
	})
}
