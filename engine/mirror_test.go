package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

const mirrorSpec = `{ spec = { computations = { mirror = {
    computation_class_name = transform; processing_function = mirror; processing_function_parameters = {source = "/source"};
    group_by_schema = [{name=hash;type=uint64;expression="farm_hash(key)"}; {name=key;type=utf8}];
    key_visitor_streams = {sweep = {names = ["/mirror"]; external_names = ["/source"]}};
    external_state_joiners = {"/source" = {class_name = static_table; parameters = {path = %s; %s}}} } } };
  dynamic_spec = {computations = {mirror = {
    desired_partition_count = 2; key_visitor_streams = {sweep = {period = "1s"; finite = %%false}};
    external_state_joiners = {"/source" = {parameters = {unavailable_source_backoff = "2s"}}} }}} }`

// mirrorRig runs a mirror in virtual time.
type mirrorRig struct {
	*Pipeline
	t    *testing.T
	data string
	done chan error
}

// startMirror mirrors the table at a path; more are parameters of its joiner.
func startMirror(t *testing.T, path, more string) *mirrorRig {
	t.Helper()
	return startMirrorIn(t, storetest.NewModel(), strconv.Quote(path), more)
}

// startMirrorIn keeps the states in a store; the path is YSON.
func startMirrorIn(t *testing.T, in store.Store, path, more string) *mirrorRig {
	t.Helper()
	s, err := spec.Parse("mirror.yson", fmt.Appendf(nil, mirrorSpec, path, more))
	if err != nil {
		t.Fatal(err)
	}
	var functions flow.Registry
	if err := function.Register(&functions); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	p, err := Prepare(t.Context(), Options{Spec: s, Functions: &functions, DataDir: data, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	m := &mirrorRig{Pipeline: p, t: t, data: data, done: make(chan error, 1)}
	go func() {
		_, err := p.Run(t.Context(), in)
		m.done <- err
	}()
	return m
}

func (m *mirrorRig) stop() {
	m.t.Helper()
	m.Pause()
	if err := <-m.done; err != nil {
		m.t.Fatal(err)
	}
}

// pass lets several passes and rests of the table go by.
func (m *mirrorRig) pass() { <-time.After(7 * time.Second) }

// states are what is mirrored, by key.
func (m *mirrorRig) states() map[string]string {
	m.t.Helper()
	a, err := m.States().ListStates(context.Background(), store.ListRequest{Computation: "mirror"})
	if err != nil {
		m.t.Fatal(err)
	}
	out := map[string]string{}
	for _, k := range a.Keys {
		key, err := schema.DecodeKey(k.Key)
		if err != nil {
			m.t.Fatal(err)
		}
		out[key[1].AsString()] = string(k.Rows[0].Value)
	}
	return out
}

// says tells whether a problem has all words.
func (m *mirrorRig) says(words ...string) bool {
	return slices.ContainsFunc(m.Problems(), func(p Problem) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p.Path+" "+p.Message, w) })
	})
}

// badFiles are what may lie in the place of a good table, and what is said of it.
func badFiles(t *testing.T, good string) map[string]struct {
	put  func(path string) error
	want []string
} {
	type bad = struct {
		put  func(path string) error
		want []string
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	sorted := func(key, text string) func(string) error {
		return func(path string) error {
			in := filepath.Join(t.TempDir(), "in.csv")
			if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
				return err
			}
			types := map[string]schema.Type{}
			if strings.Contains(text, "1\n") {
				types["key"] = schema.TypeInt64
			}
			_, err := external.Sort(context.Background(), external.SortOptions{In: in, Out: path, Key: key, Types: types, Memory: external.MinSortMemory})
			return err
		}
	}
	out := map[string]bad{
		"missing":                   {os.Remove, []string{"no such file"}},
		"cut off":                   {func(path string) error { return os.Truncate(path, int64(len(data)/2)) }, []string{path(good)}},
		"something else":            {func(path string) error { return os.WriteFile(path, []byte("no table at all\n"), 0o600) }, []string{path(good)}},
		"another type of key":       {sorted("hash=farm_hash(key),key", "key\n1\n"), []string{"column key is int64, and utf8 in group_by_schema"}},
		"nearly everything is gone": {sorted("hash=farm_hash(key),key", "key,a\nb,0\n"), []string{"/shrunk", "rows: 1"}},
	}
	if filepath.Ext(good) == ".csv" {
		lines := strings.SplitAfter(string(data), "\n")
		text := func(lines ...string) func(string) error {
			return func(path string) error {
				return errors.Join(os.RemoveAll(path+external.MetaSuffix), os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
			}
		}
		first, _, _ := strings.Cut(lines[1], ",")
		out["unsorted"] = bad{text(lines[0], lines[2], lines[1]), []string{"row 2 (line 3)", first, "belongs before"}}
		out["a key twice"] = bad{text(lines[0], lines[1], lines[1]), []string{"row 2 (line 3)", first, "as row 1 (line 2) has"}}
		out["a null key"] = bad{text(lines[0], lines[1], first+",,1\n"), []string{"row 2 (line 3)", "key"}}
		out["another hash"] = bad{text(lines[0], "7"+lines[1][len(first):]), []string{"row 1 (line 2)", "hash is 7", first}}
		out["a wider row"] = bad{text(lines[0], strings.TrimSuffix(lines[1], "\n")+",9\n"), []string{"row 1 (line 2)", "fields"}}
		out["another schema"] = bad{text("id,a\n1,2\n"), []string{"no column hash"}}
		out["not that of its .meta file"] = bad{func(path string) error {
			return os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600)
		}, []string{"do not belong together"}}
	}
	return out
}

// path is the end of a path that errors show.
func path(file string) string { return filepath.Base(file) }

// TestNoBadTableDeletesAnything puts each bad file in the place of a table that is
// mirrored. The problem is shown, the state stays as it is, and follows the next good
// table.
func TestNoBadTableDeletesAnything(t *testing.T) {
	before := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
	after := map[string]int{"a": 1, "b": 9, "c": 3, "d": 4, "f": 6}
	for _, format := range []string{".csv", ".parquet"} {
		for _, policy := range []string{"retry", "mark_unreadable"} {
			good := filepath.Join(t.TempDir(), "good"+format)
			writeTable(t, good, before)
			for name, bad := range badFiles(t, good) {
				t.Run(name+" "+policy+format, func(t *testing.T) {
					table := filepath.Join(t.TempDir(), "good"+format)
					synctest.Test(t, func(t *testing.T) {
						writeTable(t, table, before)
						m := startMirror(t, table, "unavailable_source_policy = "+policy)
						m.pass()
						was := m.states()
						if len(was) != len(before) {
							t.Fatalf("%d keys are mirrored", len(was))
						}
						if err := bad.put(table); err != nil {
							t.Fatal(err)
						}
						m.pass()
						if got := m.states(); name == "nearly everything is gone" && len(got) != len(was) || name != "nearly everything is gone" && !maps.Equal(got, was) {
							t.Errorf("%d keys are left of %d", len(got), len(was))
						}
						if !m.says(append(bad.want, "/external_state_joiners/source/")...) {
							t.Errorf("no problem says %q: %+v", bad.want, m.Problems())
						}
						writeTable(t, table, after)
						m.pass()
						now := m.states()
						if _, left := now["e"]; left || len(now) != len(after) || now["b"] == was["b"] || now["f"] == "" || now["a"] != was["a"] {
							t.Errorf("the state does not follow the next good table: %q", now)
						}
						if m.says("/external_state_joiners/source/") {
							t.Errorf("there are problems with a good table: %+v", m.Problems())
						}
						m.stop()
					})
				})
			}
		}
	}
}

// TestAMirrorFollowsALink: the path is a link, which is set to another table each time.
func TestAMirrorFollowsALink(t *testing.T) {
	t.Run("JN-19 mirror follows its source", func(t *testing.T) {
		many := map[string]int{}
		for i := range 20 {
			many[fmt.Sprintf("k%02d", i)] = i
		}
		versions := []map[string]int{many, {"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 3, "d": 4}}
		for _, format := range []string{".parquet", ".csv"} {
			dir := t.TempDir()
			for i, rows := range versions {
				writeTable(t, filepath.Join(dir, fmt.Sprint(i)+format), rows)
			}
			synctest.Test(t, func(t *testing.T) {
				link := filepath.Join(dir, "link"+format)
				relink := func(i int) {
					next := filepath.Join(dir, "next"+format)
					if err := errors.Join(os.Symlink(fmt.Sprint(i)+format, next), os.Rename(next, link)); err != nil {
						t.Fatal(err)
					}
				}
				relink(0)
				m := startMirror(t, link, "")
				<-time.After(time.Millisecond)
				if _, err := m.SetDynamic(t.Context(), `computations.mirror.external_state_joiners."/source".parameters.max_shrink_ratio`, yson.Int64(1), 0); err != nil {
					t.Fatal(err)
				}
				for i, rows := range versions {
					relink(i)
					m.pass()
					if got := slices.Sorted(maps.Keys(m.states())); !slices.Equal(got, slices.Sorted(maps.Keys(rows))) {
						t.Errorf("version %d: the mirror has %v", i, got)
					}
				}
				m.stop()
			})
		}
	})
}

// TestAMirrorThatBeginsMissesNoName: the first pass writes the states that the second
// one finds (KV-2).
func TestAMirrorThatBeginsMissesNoName(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	writeTable(t, table, map[string]int{"a": 1, "b": 2, "c": 3, "d": 4})
	synctest.Test(t, func(t *testing.T) {
		m := startMirror(t, table, "")
		<-time.After(time.Millisecond)
		if _, err := m.SetDynamic(t.Context(), "computations.mirror.key_visitor_streams.sweep.period", yson.String("60s"), 0); err != nil {
			t.Fatal(err)
		}
		for range 150 {
			<-time.After(time.Second)
			if m.says("no pass has found") {
				t.Fatalf("%+v", m.Problems())
			}
		}
		if got := m.states(); len(got) != 4 {
			t.Errorf("%d keys are mirrored", len(got))
		}
		m.stop()
	})
}

// finite lets the stream follow its upstreams, of which there are none.
func (m *mirrorRig) finite() {
	m.t.Helper()
	if _, err := m.SetDynamic(m.t.Context(), "computations.mirror.key_visitor_streams.sweep.finite", yson.Boolean(true), 0); err != nil {
		m.t.Fatal(err)
	}
}

// TestAMirrorWithoutEndCompletesWhenItIsMadeFinite: rows that come after the start are
// visited in every pass, and the computation, which has visits alone, stays.
func TestAMirrorWithoutEndCompletesWhenItIsMadeFinite(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	synctest.Test(t, func(t *testing.T) {
		m := startMirror(t, table, "")
		m.pass()
		writeTable(t, table, map[string]int{"a": 1, "b": 2})
		m.pass()
		for _, part := range m.Status().Partitions {
			if part.Phase == Done {
				t.Error("a partition retired")
			}
		}
		if got := m.states(); len(got) != 2 {
			t.Fatalf("%d keys are mirrored", len(got))
		}
		m.finite()
		if err := <-m.done; err != nil {
			t.Fatal(err)
		}
		for _, part := range m.Status().Partitions {
			if part.Phase != Done {
				t.Errorf("partition %d is in phase %v", part.ID, part.Phase)
			}
		}
	})
}
