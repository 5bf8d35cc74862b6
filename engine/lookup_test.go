package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// looking lets the rig look its keys up in the table.
func (r *rig) looking(join, dynamic string, f func(rt flow.Runtime, of flow.Keyed) error) *rig {
	r.edit = func(text string) string {
		text = strings.Replace(text, "processing_function = count;",
			`processing_function = count; external_state_joiners = {"/accounts" = {class_name = simple; parameters = {path = "//accounts"}; `+join+`}};`, 1)
		return strings.Replace(text, "counter = {desired", `counter = {external_state_joiners = {"/accounts" = {parameters = {`+dynamic+`}}}; desired`, 1)
	}
	r.function = func() flow.Function { return &lookingFunction{newCountFunction(r), f} }
	return r
}

type lookingFunction struct {
	*countFunction
	look func(flow.Runtime, flow.Keyed) error
}

func (f *lookingFunction) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return errors.Join(f.look(rt, m), f.countFunction.OnMessage(ctx, rt, m, out))
}

func (f *lookingFunction) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return errors.Join(f.look(rt, v), f.countFunction.OnVisit(ctx, rt, v, out))
}

// lookingAlarms also looks the keys of timers up.
type lookingAlarms struct {
	*alarms
	look func(flow.Runtime, flow.Keyed) error
}

func (f *lookingAlarms) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return errors.Join(f.look(rt, m), f.alarms.OnMessage(ctx, rt, m, out))
}

func (f *lookingAlarms) OnTimer(ctx context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	return errors.Join(f.look(rt, t), f.alarms.OnTimer(ctx, rt, t, out))
}

func (f *lookingAlarms) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return errors.Join(f.look(rt, v), f.alarms.OnVisit(ctx, rt, v, out))
}

// found collects answers of look-ups.
type foundRows struct {
	mu  sync.Mutex
	got map[string]bool
}

func (f *foundRows) take(rt flow.Runtime, of flow.Keyed) error {
	j, err := flow.OpenJoined(rt, "/accounts", of)
	if err != nil {
		return err
	}
	row, there, err := j.Row()
	if err != nil {
		return err
	}
	text := "absent"
	if there {
		text = fmt.Sprintf("%s=%d", row.String("key"), row.Int64("count"))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.got == nil {
		f.got = map[string]bool{}
	}
	f.got[fmt.Sprintf("%T %s", of, text)] = true
	return nil
}

func (f *foundRows) sorted() (out []string) {
	for k := range f.got {
		out = append(out, strings.TrimPrefix(k, "flow."))
	}
	slices.Sort(out)
	return out
}

// looked counts the reads of look-ups.
func looked(calls *int) func(storetest.Call) storetest.Fault {
	var mu sync.Mutex
	return func(c storetest.Call) storetest.Fault {
		if c.Op == storetest.OpGetRows {
			mu.Lock()
			defer mu.Unlock()
			*calls++
		}
		return storetest.Fault{}
	}
}

func TestKeysAreLookedUpInTables(t *testing.T) {
	run := func(t *testing.T, join, dynamic string, more func(r *rig)) (*foundRows, int) {
		var f foundRows
		calls := 0
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 30, 3).looking(join, dynamic, f.take)
			r.partitions = 1
			if more != nil {
				more(r)
			}
			s := storetest.NewFaults(storetest.NewModel(), looked(&calls))
			table := newAccounts(t, s)
			table.put("0", 10, 0)
			table.put("2", 30, 0)
			r.run(s)
			r.sink.written = slices.DeleteFunc(r.sink.written, func(m flow.Message) bool { return m.Payload.Uint64("pass") == firing })
			r.check()
		})
		return &f, calls
	}
	want := "[Message 0=10 Message 2=30 Message absent Visit 0=10 Visit 2=30 Visit absent]"
	for _, c := range []struct{ name, join, dynamic string }{
		{"before they are asked for", "", ""},
		{"when they are asked for", "auto_preload = %false", ""},
		{"with a cache", "", `cache = {ttl = "1h"}`},
		{"with a cache of nothing", "", `cache = {ttl = "1h"; max_bytes = 0}`},
		{"from two streams", "join_on = {key_provider_streams = [rows; sweep]}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f, _ := run(t, c.join, c.dynamic, nil); fmt.Sprint(f.sorted()) != want {
				t.Errorf("got %v", f.sorted())
			}
		})
	}
	t.Run("a cache saves look-ups", func(t *testing.T) {
		_, without := run(t, "", "", nil)
		_, with := run(t, "", `cache = {ttl = "1h"}`, nil)
		if with >= without || with > 3 {
			t.Errorf("%d reads with a cache, %d without", with, without)
		}
	})
	t.Run("EXT-04 the streams that provide keys", func(t *testing.T) {
		for _, preload := range []string{"", "auto_preload = %false; "} {
			for _, providers := range [][]string{nil, {"rows", "alarm"}, {"rows"}, {"alarm"}, {"sweep"}} {
				join, want := preload, []string{}
				if providers != nil {
					join += "join_on = {key_provider_streams = [" + strings.Join(providers, "; ") + "]}"
				}
				provides := func(stream string) bool { return providers == nil || slices.Contains(providers, stream) }
				for _, of := range [][2]string{{"Message", "rows"}, {"Timer", "alarm"}, {"Visit", "sweep"}} {
					if provides(of[1]) {
						want = append(want, of[0]+" 0=10", of[0]+" 2=30", of[0]+" absent")
					}
				}
				f, _ := run(t, join, "", func(r *rig) {
					take := r.function().(*lookingFunction).look
					r.edit = func(edit func(string) string) func(string) string {
						return func(text string) string { return timerRig(t, 0, 0, "").edit(edit(text)) }
					}(r.edit)
					r.function = func() flow.Function {
						return &lookingAlarms{newAlarms(r), func(rt flow.Runtime, of flow.Keyed) error {
							if !provides(streamOf(of)) {
								return nil
							}
							return take(rt, of)
						}}
					}
				})
				if got := f.sorted(); !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", join, got, want)
				}
			}
		}
	})
	t.Run("JN-22 a joiner that looks keys up is not scanned", func(t *testing.T) {
		f, _ := run(t, "", "", func(r *rig) {
			edit := r.edit
			r.edit = func(text string) string {
				return strings.Replace(edit(text), "sweep = {}", `sweep = {names = ["/count"]; external_names = ["/accounts"]}`, 1)
			}
		})
		if fmt.Sprint(f.sorted()) != want {
			t.Errorf("got %v", f.sorted())
		}
		r := newRig(t, 1, 1).looking("", "", f.take)
		s, err := spec.Parse("rig.yson", []byte(strings.Replace(r.edit(fmt.Sprintf(rigSpec, 1, "", "1s")), "sweep = {}", `sweep = {names = ["/count"]; external_names = ["/accounts"]}`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		notes := 0
		for _, n := range s.Notes {
			if strings.Contains(n, "/accounts") {
				notes++
			}
		}
		if notes != 1 {
			t.Errorf("%d notes: %v", notes, s.Notes)
		}
		// Neither a running pipeline nor a stopped one misses rows under its name (KV-2).
		if v := visitorsOf(&node{}, s.Pipeline.Computations["counter"]); len(v) != 1 || fmt.Sprint(v[0].listed) != "[/count]" {
			t.Errorf("names to be found: %+v", v)
		}
		f, _ = run(t, "join_on = {key_provider_streams = [rows]}", "", func(r *rig) {
			edit := r.edit
			r.edit = func(text string) string {
				return strings.Replace(edit(text), "sweep = {}", `sweep = {external_names = ["/accounts"]}`, 1)
			}
			r.rows = make([][]schema.Row, 2) // nothing is counted, and nothing is visited
		})
		if len(f.got) > 0 {
			t.Errorf("got %v", f.sorted())
		}
	})
}

// TestJoinersKeysOfTheirOwn: they are made of messages and timers, and visits give
// theirs as they are.
func TestJoinersKeysOfTheirOwn(t *testing.T) {
	t.Run("JN-25 keys of an override", func(t *testing.T) {
		byValue, err := schema.New([]schema.Column{
			{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(key)"}, {Name: "key", Type: schema.TypeString},
		})
		if err != nil {
			t.Fatal(err)
		}
		groupBy, err := schema.New([]schema.Column{{Name: "h", Type: schema.TypeUint64, Required: true}, {Name: "key", Type: schema.TypeString}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := schema.NewGrouper(byValue, groupBy)
		if err != nil {
			t.Fatal(err)
		}
		l := lookupPlan{key: byValue, byStream: map[string]*schema.Grouper{"in": g, "alarm": g}}
		row := schema.Row{schema.Uint64(7), schema.String("bucket")}
		own := flow.NewKey(groupBy, string(schema.AppendKey(nil, row...)))
		hash, err := schema.CompileExpression(`farm_hash(key)`, groupBy)
		if err != nil {
			t.Fatal(err)
		}
		v, err := hash.Eval(row)
		if err != nil {
			t.Fatal(err)
		}
		made := string(schema.AppendKey(nil, v, row[1]))
		for _, c := range []struct {
			of   flow.Keyed
			want string
		}{
			{flow.Message{Meta: flow.Meta{StreamID: "in"}, Key: own, Payload: flow.NewPayload(groupBy, row)}, made},
			{flow.Timer{Meta: flow.Meta{StreamID: "alarm"}, Key: own}, made},
			{flow.Visit{Meta: flow.Meta{StreamID: "sweep"}, Key: own}, own.Encoded()},
		} {
			if got, err := l.keyOf(c.of); err != nil || got != c.want {
				t.Errorf("%T: %x, %v, want %x", c.of, got, err, c.want)
			}
		}
		l.providers = &[]string{"in"}
		if !l.provides("in") || l.provides("alarm") || l.provides("sweep") {
			t.Error("with a filter, others than in provide keys")
		}
	})
	t.Run("they find their rows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var f foundRows
			r := newRig(t, 30, 3).looking(`join_on = {key_provider_streams = [rows];
				key_schema_override = [{name=hash;type=uint64;required=%true;expression="farm_hash(value)"}; {name=value;type=int64}]}`, "",
				func(rt flow.Runtime, of flow.Keyed) error {
					if _, ok := of.(flow.Message); !ok {
						return nil
					}
					j, err := flow.OpenJoined(rt, "/accounts", of)
					if err != nil {
						return err
					}
					if row, there, _ := j.Row(); there {
						f.mu.Lock()
						defer f.mu.Unlock()
						f.got = map[string]bool{fmt.Sprint(row.Int64("value"), row.String("note")): true}
					}
					return nil
				})
			s := storetest.NewModel()
			columns, err := schema.New([]schema.Column{
				{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(value)", SortOrder: "ascending"},
				{Name: "value", Type: schema.TypeInt64, SortOrder: "ascending"}, {Name: "note", Type: schema.TypeString},
			})
			if err != nil {
				t.Fatal(err)
			}
			table, err := schema.NewTable(columns)
			if err != nil {
				t.Fatal(err)
			}
			id, err := s.CreateTable(t.Context(), "//accounts", table.String())
			if err != nil {
				t.Fatal(err)
			}
			key, value, err := table.Encode(schema.Row{{}, schema.Int64(17), schema.String("n")})
			if err == nil {
				err = s.WriteRows(t.Context(), []store.TableWrite{{Table: id, Key: key, Value: value}})
			}
			if err != nil {
				t.Fatal(err)
			}
			r.run(s)
			if fmt.Sprint(f.sorted()) != "[17n]" && fmt.Sprint(f.sorted()) != "[17 n]" {
				t.Errorf("found %v", f.sorted())
			}
		})
	})
}

// TestAKeyThatCannotBeMadeLeavesItsMessageOut: of an epoch whose messages look keys up,
// one that has none fails alone (D-24).
func TestAKeyThatCannotBeMadeLeavesItsMessageOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Int64
		const key = `[{name=hash;type=uint64;required=%true;expression="farm_hash(value / at)"}; {name=value;type=int64}; {name=at;type=int64}]`
		r := newRig(t, 30, 3).looking(`join_on = {key_provider_streams = [rows]; key_schema_override = `+key+`}`, "",
			func(rt flow.Runtime, of flow.Keyed) error {
				if _, ok := of.(flow.Message); !ok {
					return nil
				}
				_, err := flow.OpenJoined(rt, "/accounts", of)
				if err == nil {
					answered.Add(1)
				}
				return err
			})
		r.dynamic = "on_message_error = skip;"
		s := storetest.NewModel()
		columns, err := schema.New([]schema.Column{
			{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(value / at)", SortOrder: "ascending"},
			{Name: "value", Type: schema.TypeInt64, SortOrder: "ascending"}, {Name: "at", Type: schema.TypeInt64, SortOrder: "ascending"},
		})
		if err != nil {
			t.Fatal(err)
		}
		table, err := schema.NewTable(columns)
		if err == nil {
			_, err = s.CreateTable(t.Context(), "//accounts", table.String())
		}
		if err != nil {
			t.Fatal(err)
		}
		if sum := r.run(s); sum.Messages != 30 || answered.Load() != 29 {
			t.Errorf("%d messages, %d answered, want 30 and 29", sum.Messages, answered.Load())
		}
	})
}

// TestAnOutageOfATableIsNoAbsence: while rows cannot be read, the epoch fails, and no
// key is taken for one without a row.
func TestAnOutageOfATableIsNoAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrong atomic.Int64
		r := newRig(t, 30, 3).looking("", `cache = {ttl = "1h"}`, func(rt flow.Runtime, of flow.Keyed) error {
			j, err := flow.OpenJoined(rt, "/accounts", of)
			if err == nil && j.Presence() != flow.Present {
				wrong.Add(1)
			}
			return err
		})
		reads := 0
		var mu sync.Mutex
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op != storetest.OpGetRows {
				return storetest.Fault{}
			}
			mu.Lock()
			defer mu.Unlock()
			if reads++; reads%2 == 1 {
				return storetest.Unavailable()
			}
			return storetest.Fault{}
		})
		table := newAccounts(t, s)
		for _, key := range []string{"0", "1", "2"} {
			table.put(key, 1, 1)
		}
		if sum := r.run(s); sum.Messages != 30 {
			t.Errorf("%+v", sum)
		}
		if n := wrong.Load(); n > 0 {
			t.Errorf("%d rows were not found, and all are there", n)
		}
		r.check()
	})
}

func TestJoinersThatCannotBeAreRefused(t *testing.T) {
	problems := func(join, more string) string {
		r := newRig(t, 1, 1).looking(join, more, nil)
		r.function = nil
		_, err := r.prepare(r.edit(fmt.Sprintf(rigSpec, 1, "", "1s")))
		return fmt.Sprint(err)
	}
	const override = `key_schema_override = [{name=hash;type=uint64;required=%true;expression="farm_hash(value)"}; {name=value;type=int64}]`
	t.Run("VAL-13 a key of a joiner's own beside a visit stream", func(t *testing.T) {
		if got := problems("join_on = {"+override+"}", ""); !strings.Contains(got, "visits of sweep would look the key of group_by_schema up") || !strings.Contains(got, "join_on.key_schema_override") {
			t.Errorf("got %s", got)
		}
		if got := problems("join_on = {"+override+"; key_provider_streams = [rows]}", ""); got != "<nil>" {
			t.Errorf("with the provider: %s", got)
		}
	})
	for _, c := range []struct{ join, dynamic, want string }{
		{"join_on = {key_provider_streams = [row]}", "", "row is no stream that counter reads: did you mean rows?"},
		{"join_on = {key_provider_streams = [counts]}", "", "counts is no stream that counter reads"},
		{`join_on = {key_provider_streams = [rows]; key_schema_override = [{name=hash;type=uint64;required=%true;expression="farm_hash(x)"}; {name=x;type=int64}]}`, "", "the key of stream rows: column x: it is not in the input"},
		{"", `cache = {ttl = -1}`, "cache.ttl"},
		{"", `cash = {ttl = 1}`, "cash: unknown field"},
	} {
		if got := problems(c.join, c.dynamic); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %s, want %q", c.join, c.dynamic, got, c.want)
		}
	}
}
