package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// writeTable makes a static table of keys and values at a path.
func writeTable(t *testing.T, path string, rows map[string]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("key,a\n")
	for key, a := range rows {
		fmt.Fprintf(&b, "%s,%d\n", key, a)
	}
	in := filepath.Join(t.TempDir(), "in.csv")
	err := os.WriteFile(in, []byte(b.String()), 0o600)
	if err == nil {
		_, err = external.Sort(context.Background(), external.SortOptions{In: in, Out: path, Key: "hash=farm_hash(key),key", Memory: external.MinSortMemory})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// joinedRig counts rows of the keys 0 to 2 beside a table, which the sweep scans.
// names are what else it scans, and more are more parameters of the joiner.
func joinedRig(t *testing.T, path, names, more string, f func(rt flow.Runtime, v flow.Visit) error) *rig {
	r := newRig(t, 9, 3)
	r.edit = func(spec string) string {
		spec = strings.Replace(spec, "sweep = {}", fmt.Sprintf(`sweep = {external_names = ["/source"]; %s}`, names), 1)
		return strings.Replace(spec, "processing_function = count;", fmt.Sprintf(
			`processing_function = count; external_state_joiners = {"/source" = {class_name = static_table; parameters = {path = %q; %s}}};`, path, more), 1)
	}
	r.function = func() flow.Function { return &joinedFunction{inner: newCountFunction(r), visit: f} }
	return r
}

// joinedFunction counts messages, and does something at visits.
type joinedFunction struct {
	inner flow.Function
	visit func(flow.Runtime, flow.Visit) error
}

func (f *joinedFunction) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return f.inner.(flow.RowFunction).OnMessage(ctx, rt, m, out)
}

func (f *joinedFunction) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	return f.visit(rt, v)
}

// answers collects what final visits see of a table, by key.
type answers struct {
	mu  sync.Mutex
	got map[string]string
}

func (a *answers) take(rt flow.Runtime, v flow.Visit) error {
	j, err := flow.OpenJoined(rt, "/source", v)
	if err != nil || !v.Final {
		return err
	}
	text := j.Presence().String()
	if row, ok, _ := j.Row(); ok {
		text += " " + row.String("a")
	}
	key, err := v.Key.Row()
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.got == nil {
		a.got = map[string]string{}
	}
	if a.got[key[1].AsString()] != "" {
		return fmt.Errorf("%s is visited twice", v.Key)
	}
	a.got[key[1].AsString()] = text
	return nil
}

func TestStaticTablesAreScannedBesideTheState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, map[string]int{"1": 10, "2": 20, "x": 30})
	run := func(t *testing.T, path, names, more string) map[string]string {
		var a answers
		synctest.Test(t, func(t *testing.T) { joinedRig(t, path, names, more, a.take).run(storetest.NewModel()) })
		return a.got
	}
	check := func(t *testing.T, got map[string]string, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	t.Run("JN-02 a visited key gets its row", func(t *testing.T) {
		check(t, run(t, path, "", ""), "map[1:present 10 2:present 20 x:present 30]")
	})
	t.Run("JN-06 a key that is not in the table is absent", func(t *testing.T) {
		check(t, run(t, path, `names = ["/count"]`, "unavailable_source_policy = mark_unreadable"), "map[0:absent 1:present 10 2:present 20 x:present 30]")
	})
	t.Run("JN-03 rows wait for their visits over the ends of epochs", func(t *testing.T) {
		var a answers
		synctest.Test(t, func(t *testing.T) {
			r := joinedRig(t, path, "", "", a.take)
			r.partitions, r.dynamic = 1, "max_rows_per_batch = 1;" // an epoch for each visit
			if sum := r.run(storetest.NewModel()); sum.Epochs < sum.Visits {
				t.Errorf("%d epochs for %d visits", sum.Epochs, sum.Visits)
			}
		})
		check(t, a.got, "map[1:present 10 2:present 20 x:present 30]")
	})
	t.Run("NAM-03 a table named alone supplies the keys", func(t *testing.T) {
		check(t, run(t, path, "", ""), "map[1:present 10 2:present 20 x:present 30]")
	})
	t.Run("NAM-04 a table and a state supply theirs, each key once", func(t *testing.T) {
		check(t, run(t, path, `names = ["/count"]`, ""), "map[0:absent 1:present 10 2:present 20 x:present 30]")
	})
	t.Run("NAM-05 tables that are not named supply none", func(t *testing.T) {
		var mu sync.Mutex
		got := map[string]bool{}
		synctest.Test(t, func(t *testing.T) {
			r := joinedRig(t, path, "", "", func(_ flow.Runtime, v flow.Visit) error {
				key, err := v.Key.Row()
				mu.Lock()
				defer mu.Unlock()
				got[key[1].AsString()] = true
				return err
			})
			edit := r.edit
			r.edit = func(spec string) string {
				spec = strings.Replace(spec, "processing_function = count;", accountsManager+" processing_function = count;", 1)
				return strings.Replace(edit(spec), `sweep = {external_names = ["/source"]; }`, "sweep = {}", 1)
			}
			s := storetest.NewModel()
			newAccounts(t, s).put("manager", 1, 1)
			r.run(s)
		})
		if fmt.Sprint(got) != "map[0:true 1:true 2:true]" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("PASS-13 a key of the table alone has an empty state", func(t *testing.T) {
		state := flow.NewState[countState]("/count", nil)
		var empty atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			joinedRig(t, path, "", "", func(rt flow.Runtime, v flow.Visit) error {
				c, known, err := state.Open(rt, v).Get()
				if !known && c == (countState{}) && v.Final {
					empty.Add(1)
				}
				return err
			}).run(storetest.NewModel())
		})
		if empty.Load() != 1 {
			t.Errorf("%d keys have no state", empty.Load())
		}
	})
	t.Run("PASS-13 a key of the state alone has no row in a manager's table", func(t *testing.T) {
		var empty atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 9, 3)
			r.edit = func(spec string) string {
				return strings.Replace(spec, "processing_function = count;", accountsManager+" processing_function = count;", 1)
			}
			r.function = func() flow.Function {
				return &joinedFunction{newCountFunction(r), func(rt flow.Runtime, v flow.Visit) error {
					_, there, err := flow.OpenExternal(rt, "/accounts", v).Get()
					if v.Final && !there && err == nil {
						empty.Add(1)
					}
					return err
				}}
			}
			s := storetest.NewModel()
			table := newAccounts(t, s)
			table.put("other", 1, 1)
			r.run(s)
			if len(r.sink.written) > 0 || len(table.rows()) != 1 {
				t.Errorf("output %v, rows %v", r.sink.written, table.rows())
			}
		})
		if empty.Load() != 3 {
			t.Errorf("%d keys have no row", empty.Load())
		}
	})
	t.Run("KV-52 an outage is unknown", func(t *testing.T) {
		got := run(t, filepath.Join(t.TempDir(), "gone.parquet"), `names = ["/count"]`, "unavailable_source_policy = mark_unreadable")
		check(t, got, "map[0:unknown 1:unknown 2:unknown]")
	})
}

func TestJoinedAccess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, map[string]int{"1": 10})
	fails := func(t *testing.T, want string, r *rig) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r.t = t
			ctx, cancel := context.WithCancel(t.Context())
			p := r.pipeline()
			ended := make(chan struct{})
			go func() { defer close(ended); _, _ = p.Run(ctx, storetest.NewModel()) }()
			<-time.After(5 * time.Second)
			cancel()
			<-ended
			for _, part := range p.Status().Partitions {
				if strings.Contains(part.Error, want) {
					return
				}
			}
			t.Errorf("no partition failed with %s: %+v", want, p.Status().Partitions)
		})
	}
	t.Run("JN-08 only the keys of visits that scan the table are known", func(t *testing.T) {
		other := flow.Visit{}
		fails(t, "a function reaches the keys of its inputs only", joinedRig(t, path, "", "", func(rt flow.Runtime, v flow.Visit) error {
			other = v
			other.Key = flow.NewKey(v.Key.Schema(), v.Key.Encoded()+"\x01")
			_, _ = flow.OpenJoined(rt, "/source", other) // what is ignored fails too
			return nil
		}))
		fails(t, "has no table of this name", joinedRig(t, path, "", "", func(rt flow.Runtime, v flow.Visit) error {
			_, err := flow.OpenJoined(rt, "/sauce", v)
			return err
		}))
	})
	t.Run("JN-26 an unknown row is an error, not an empty one", func(t *testing.T) {
		j := flow.Joined{}
		if _, present, err := j.Row(); j.Known() || present || !errors.Is(err, flow.ErrUnknown) {
			t.Errorf("known %v, present %v, %v", j.Known(), present, err)
		}
	})
}
