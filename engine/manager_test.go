package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// accountsOf is the form of the table that tests keep their counts in.
func accountsOf(t testing.TB) *schema.Table {
	t.Helper()
	s, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(key)", SortOrder: "ascending"},
		{Name: "key", Type: schema.TypeString, SortOrder: "ascending"},
		{Name: "count", Type: schema.TypeInt64, Required: true},
		{Name: "sum", Type: schema.TypeInt64},
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(s)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// accounts is the table in a store.
type accounts struct {
	t     testing.TB
	store store.Tables
	id    store.TableID
	form  *schema.Table
}

func newAccounts(t testing.TB, s store.Tables) *accounts {
	t.Helper()
	a := &accounts{t: t, store: s, form: accountsOf(t)}
	var err error
	if a.id, err = s.CreateTable(context.Background(), "//accounts", a.form.String()); err != nil {
		t.Fatal(err)
	}
	return a
}

// put writes a row from outside.
func (a *accounts) put(key string, count, sum int64) {
	a.t.Helper()
	k, value, err := a.form.Encode(schema.Row{{}, schema.String(key), schema.Int64(count), schema.Int64(sum)})
	if err == nil {
		err = a.store.WriteRows(context.Background(), []store.TableWrite{{Table: a.id, Key: k, Value: value}})
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// rows are those of the table, by key.
func (a *accounts) rows() map[string][2]int64 {
	a.t.Helper()
	got, err := a.store.ListRows(context.Background(), a.id, store.ListRequest{})
	if err != nil {
		a.t.Fatal(err)
	}
	out := map[string][2]int64{}
	for _, k := range got.Keys {
		row, err := a.form.Decode(k.Key, k.Rows[0].Value)
		if err != nil {
			a.t.Fatal(err)
		}
		out[row[1].AsString()] = [2]int64{row[2].AsInt64(), row[3].AsInt64()}
	}
	return out
}

const accountsManager = `external_state_managers = {"/accounts" = {class_name = simple; parameters = {path = "//accounts"}}};`

// external lets the rig keep its counts in the table, and scan it.
func (r *rig) external() *rig {
	r.edit = func(text string) string {
		text = strings.Replace(text, "processing_function = count;", "processing_function = count; "+accountsManager, 1)
		return strings.Replace(text, "sweep = {}", `sweep = {external_names = ["/accounts"]}`, 1)
	}
	r.function = func() flow.Function { return &accountsFunction{rig: r} }
	return r
}

// accountsFunction is countFunction over the table.
type accountsFunction struct {
	rig   *rig
	visit func(flow.Visit, flow.ExternalRow) error
}

func (f *accountsFunction) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	if f.rig != nil && f.rig.onMessage != nil {
		if err := f.rig.onMessage(m); err != nil {
			return err
		}
	}
	row := flow.OpenExternal(rt, "/accounts", m)
	is, there, err := row.Get()
	if err != nil {
		return err
	}
	var count, sum int64
	if there {
		count, sum = is.Int64("count"), is.Int64("sum")
	}
	return row.Edit().Set("count", count+1).Set("sum", sum+m.Payload.Int64("value")).Save()
}

func (f *accountsFunction) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	row := flow.OpenExternal(rt, "/accounts", v)
	if f.visit != nil {
		return f.visit(v, row)
	}
	is, there, err := row.Get()
	if err != nil || !there {
		return fmt.Errorf("a visit without a row: %w", err)
	}
	m, err := rt.MessageBuilder("counts").SetValue("key", is.Value("key")).Set("count", is.Int64("count")).
		Set("sum", is.Int64("sum")).Set("pass", v.Pass).Set("final", v.Final).Finish()
	if err != nil {
		return err
	}
	return out.AddMessage(m)
}

// TestExternalStatesHoldThroughFaults: with its state in a table, a pipeline comes to
// the same figures, whatever fails, wherever it dies and however it is cut anew.
func TestExternalStatesHoldThroughFaults(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 600, 57).external()
		r.partitions, r.period = 1+rng.IntN(4), "100ms"
		r.onMessage, r.gate = taking(time.Millisecond), make(chan struct{})
		model := storetest.NewModel()
		table := newAccounts(t, model)
		s := storetest.NewFaults(model, func(c storetest.Call) storetest.Fault {
			switch c.Op {
			case storetest.OpTables:
				if c.Number > 1 { // the first one is the pipeline's, which would end
					c.Op = storetest.OpGetStates
				}
			case storetest.OpGetRows, storetest.OpListRows:
				c.Op = storetest.OpGetStates // as often
			case storetest.OpRelayout:
				c.Op = storetest.OpCommit
			}
			return someFault(rng, c)
		})
		for range 4 {
			life, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(150))*time.Millisecond)
			_, _ = r.pipeline().Run(life, storetest.NewFaults(model, nil)) // it has a store of its own to close
			cancel()
		}
		counts, waits := []int{5, 2}, []int{rng.IntN(200), rng.IntN(200)} // drawn before faults are
		p := r.start(s)
		for i, n := range counts {
			<-time.After(time.Duration(waits[i]) * time.Millisecond)
			r.partitions = n
			p.must(p.change("desired_partition_count", fmt.Sprint(n)))
		}
		close(r.gate)
		p.must(<-p.done)
		r.check()
		if twice := r.repeated(); len(twice) > 0 {
			t.Errorf("visited twice: %v", twice)
		}
		if rows := table.rows(); len(rows) != 57 {
			t.Errorf("%d rows in the end: %v", len(rows), rows)
		}
	})
}

// TestRowsThatOthersChangeAreNeverLost: an outside writer adds to rows that epochs
// count in; each change is seen, whoever came first (KV-22).
func TestRowsThatOthersChangeAreNeverLost(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 300, 7).external()
		r.onMessage = taking(time.Duration(1+rng.IntN(3)) * time.Millisecond)
		r.period = "50ms"
		s := storetest.NewModel()
		table := newAccounts(t, s)
		p := r.start(s)
		added := map[string]int64{}
		for range 40 {
			<-time.After(time.Duration(rng.IntN(9)) * time.Millisecond)
			key := fmt.Sprint(rng.IntN(7))
			k, _, err := table.form.Encode(schema.Row{{}, schema.String(key), schema.Int64(0), schema.Int64(0)})
			p.must(err)
			// What is written is made from no older row than the one that is compared.
			was, err := s.GetRows(t.Context(), table.id, []string{k})
			p.must(err)
			is := table.rows()[key]
			_, value, err := table.form.Encode(schema.Row{{}, schema.String(key), schema.Int64(is[0] + 1000), schema.Int64(is[1])})
			p.must(err)
			write := store.TableWrite{Table: table.id, Key: k, Value: value, Checked: true, Was: was[0]}
			if err := s.WriteRows(t.Context(), []store.TableWrite{write}); err == nil {
				added[key] += 1000
			} else if !errors.Is(err, store.ErrConflict) {
				t.Fatal(err)
			}
		}
		close(r.gate)
		p.must(<-p.done)
		for key, got := range table.rows() {
			want := added[key]
			for _, part := range r.rows {
				for _, row := range part {
					if row[0].AsString() == key {
						want++
					}
				}
			}
			if got[0] != want {
				t.Errorf("key %s counts %d, want %d", key, got[0], want)
			}
		}
	})
}

// seen are the visits of a test, as "key/pass".
type seen struct {
	mu     sync.Mutex
	visits []string
	values map[string]string // what the last visit of a key had
}

func (s *seen) take(v flow.Visit, row flow.ExternalRow) error {
	is, there, err := row.Get()
	if err != nil || !there {
		return fmt.Errorf("a visit without a row: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	key := is.String("key")
	s.visits = append(s.visits, fmt.Sprintf("%s/%d", key, v.Pass))
	s.values[key] = fmt.Sprintf("v%d", is.Int64("sum"))
	return nil
}

// each counts the visits of each key.
func (s *seen) each() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, v := range s.visits {
		key, _, _ := strings.Cut(v, "/")
		out[key]++
	}
	return out
}

const auditSpec = `{ spec = {
  computations = {
    audit = { computation_class_name = transform; processing_function = audit; ` + accountsManager + `
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=string}];
      key_visitor_streams = {sweep = {external_names = ["/accounts"]}} } } };
  dynamic_spec = {computations = {
    audit = {desired_partition_count = %d; key_visitor_streams = {sweep = {period = "1s"; finite = %%%v}}}}} }`

// auditing makes a pipeline of visits alone.
func auditing(t *testing.T, partitions int, finite bool, f flow.Function) *Pipeline {
	t.Helper()
	r := newRig(t, 0, 1)
	r.functions = map[string]flow.Function{"audit": f}
	p, err := r.prepare(fmt.Sprintf(auditSpec, partitions, finite))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visitsOnly is a function without messages.
type visitsOnly func(flow.Visit, flow.ExternalRow) error

func (f visitsOnly) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	return f(v, flow.OpenExternal(rt, "/accounts", v))
}

func TestTablesAreVisited(t *testing.T) {
	t.Run("EXT-01 a final pass over an external table sees what was written last", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 0, 1).external()
			for _, v := range []int64{1, 2} {
				for i := range 20 {
					r.rows[0] = append(r.rows[0], schema.Row{schema.String(fmt.Sprintf("k_%03d", i)), schema.Int64(v), schema.Int64(v)})
				}
			}
			var got seen
			r.period = "5s"
			r.function = func() flow.Function { return &latest{&accountsFunction{visit: got.take}} }
			s := storetest.NewModel()
			newAccounts(t, s)
			r.run(s)
			for i := range 20 {
				if key := fmt.Sprintf("k_%03d", i); got.values[key] != "v2" {
					t.Errorf("the last visit of %s had %q", key, got.values[key])
				}
			}
		})
	})
	t.Run("EXT-02 a computation of visits alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var got seen
			s := storetest.NewFaults(storetest.NewModel(), nil)
			table := newAccounts(t, s)
			p := auditing(t, 4, false, visitsOnly(got.take))
			done := make(chan error, 1)
			go func() {
				_, err := p.Run(t.Context(), s)
				done <- err
			}()
			<-time.After(10 * time.Millisecond)
			for i := range 20 {
				table.put(fmt.Sprintf("k_%03d", i), 1, 1)
			}
			<-time.After(2 * time.Second)
			if parts := p.Status().Partitions; len(parts) != 4 {
				t.Errorf("%d partitions", len(parts))
			}
			if each := got.each(); len(each) != 20 {
				t.Errorf("visited %v", each)
			}
			p.Stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("EXT-08 visits that only change state", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 20, 20).external()
			edit := r.edit
			r.edit = func(text string) string {
				text = strings.Replace(edit(text), "counter = { computation_class_name = transform;", "counter = { computation_class_name = swift_map;", 1)
				for _, gone := range []string{"output_stream_ids = [counts];", "streams_dependency = {counts = [sweep]};", "sinks = {out = {sink_class_name = memory; input_stream_ids = [counts]}}"} {
					if i := strings.LastIndex(text, gone); i >= 0 {
						text = text[:i] + text[i+len(gone):]
					}
				}
				at := strings.Index(text, "    counts = {schema")
				return text[:at] + text[at+strings.IndexByte(text[at:], '\n')-2:]
			}
			r.period = "5s"
			r.function = func() flow.Function {
				return &accountsFunction{visit: func(_ flow.Visit, row flow.ExternalRow) error {
					is, _, err := row.Get()
					if err != nil {
						return err
					}
					return row.Edit().Set("count", is.Int64("count")+1).Save()
				}}
			}
			s := storetest.NewModel()
			table := newAccounts(t, s)
			r.run(s)
			for key, row := range table.rows() {
				if row[0] < 2 || fmt.Sprint(row[1]) != key {
					t.Errorf("row %s is %v", key, row)
				}
			}
			if len(table.rows()) != 20 {
				t.Errorf("%d rows", len(table.rows()))
			}
		})
	})
	t.Run("rows that were there are visited, and may be removed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := storetest.NewFaults(storetest.NewModel(), nil)
			table := newAccounts(t, s)
			for i := range 100 {
				table.put(fmt.Sprint(i), int64(i), 0)
			}
			sum, err := auditing(t, 3, true, visitsOnly(func(_ flow.Visit, row flow.ExternalRow) error {
				is, _, err := row.Get()
				if err != nil || is.Int64("count")%3 != 0 {
					return err
				}
				return row.Clear()
			})).Run(t.Context(), s)
			if err != nil || !sum.Completed || sum.Visits != 100 || sum.Passes != 3 {
				t.Fatalf("%+v, %v", sum, err)
			}
			if n := len(table.rows()); n != 66 {
				t.Errorf("%d rows are left, want 66", n)
			}
		})
	})
}

// latest keeps the last value in place of the sum.
type latest struct{ *accountsFunction }

func (f *latest) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return flow.OpenExternal(rt, "/accounts", m).Edit().Set("count", 0).Set("sum", m.Payload.Int64("value")).Save()
}

func TestTablesThatDoNotFitAreRefused(t *testing.T) {
	fails := func(t *testing.T, s store.Store, want ...string) {
		t.Helper()
		_, err := auditing(t, 1, true, visitsOnly(func(flow.Visit, flow.ExternalRow) error { return nil })).Run(t.Context(), s)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("got %v, want %q", err, w)
			}
		}
	}
	t.Run("one that is not there", func(t *testing.T) {
		fails(t, storetest.NewModel(), "spec.computations.audit.external_state_managers./accounts", "//accounts", "rondo table create")
	})
	t.Run("another key", func(t *testing.T) {
		s := storetest.NewModel()
		columns, err := schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, SortOrder: "ascending"}, {Name: "key", Type: schema.TypeInt64, SortOrder: "ascending"}})
		if err != nil {
			t.Fatal(err)
		}
		table, err := schema.NewTable(columns)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateTable(t.Context(), "//accounts", table.String()); err != nil {
			t.Fatal(err)
		}
		fails(t, s, "key int64 in the table and key string in group_by_schema")
	})
}

// TestARowThatDoesNotFitFailsItsVisit: nothing is removed for it, and the error tells
// the key and both widths.
func TestARowThatDoesNotFitFailsItsVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewFaults(storetest.NewModel(), nil)
		table := newAccounts(t, s)
		k, _, err := table.form.Encode(schema.Row{{}, schema.String("wide"), schema.Int64(1), schema.Int64(1)})
		if err != nil {
			t.Fatal(err)
		}
		value := schema.AppendRow(nil, schema.Row{schema.Int64(1), schema.Int64(2), schema.Int64(3)})
		if err := s.WriteRows(t.Context(), []store.TableWrite{{Table: table.id, Key: k, Value: value}}); err != nil {
			t.Fatal(err)
		}
		p := auditing(t, 1, true, visitsOnly(func(_ flow.Visit, row flow.ExternalRow) error {
			if _, _, err := row.Get(); err != nil {
				return err
			}
			return row.Clear()
		}))
		done := make(chan error, 1)
		go func() {
			_, err := p.Run(t.Context(), s)
			done <- err
		}()
		<-time.After(3 * time.Second)
		shown := fmt.Sprint(p.Status().Partitions[0].Error)
		for _, want := range []string{"/accounts", "wide", "has 3 columns beside the key", "has 2 columns"} {
			if !strings.Contains(shown, want) {
				t.Errorf("shows %q, want %q", shown, want)
			}
		}
		p.Stop()
		<-done
		if got, err := s.GetRows(context.Background(), table.id, []string{k}); err == nil && len(got[0]) == 0 {
			t.Error("the row is gone")
		}
	})
}

func TestOneWriterForEachTable(t *testing.T) {
	problems := func(first, second string) string {
		text := fmt.Sprintf(auditSpec, 1, true)
		_, one, _ := strings.Cut(text, "  computations = {\n")
		one, _, _ = strings.Cut(one, " } };\n  dynamic_spec")
		two := strings.Replace(one, "audit = {", "second = {", 1)
		text = strings.Replace(text, one, strings.Replace(one, `"//accounts"`, first, 1)+";\n"+strings.Replace(two, `"//accounts"`, second, 1), 1)
		r := newRig(t, 0, 1)
		r.functions = map[string]flow.Function{"audit": visitsOnly(nil)}
		s, err := spec.Parse("audit.yson", []byte(text))
		if err == nil {
			functions, connectors := r.registries()
			_, err = Prepare(t.Context(), Options{Spec: s, Functions: functions, Connectors: connectors})
		}
		return fmt.Sprint(err)
	}
	t.Run("VAL-14 one writer per external table", func(t *testing.T) {
		for _, c := range []struct{ first, second, want string }{
			{`"//a"`, `"//a"`, "spec.computations.second.external_state_managers./accounts: it writes the table //a, as does spec.computations.audit.external_state_managers./accounts"},
			{`"//a"`, `<append=%true>"//a"`, "it writes the table //a"},
			{`"//a"`, `"//b"`, ""},
			{`"//a"`, `<cluster=other>"//a"`, ""},
		} {
			got := problems(c.first, c.second)
			if c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
				t.Errorf("%s and %s: %s, want %q", c.first, c.second, got, c.want)
			}
		}
		// Without a path there is no table to be shared; that it is missing is told of both.
		got := problems("#", "#")
		if strings.Contains(got, "as does") || strings.Count(got, "path") < 2 {
			t.Errorf("no paths: %s", got)
		}
	})
}
