package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

const wideSpec = `{
streams = {rows = {schema = [{name = a; type = string}; {name = n; type = int64}]}};
computations = {
  reader = {computation_class_name = source_passthrough; output_stream_ids = [rows]; source_streams = {s = {source_class_name = file}}};
  wide = {computation_class_name = transform; processing_function = f; input_stream_ids = [rows];
    group_by_schema = [{name = hash; type = uint64; expression = "farm_hash(a)"}; {name = a; type = string}; {name = n; type = int64}]}}}`

// wide is a store with states that make several pages: keys (a, n) for a in x, y, z
// and n from 0 to 3. It returns the keys in the order of the store.
func wide(t *testing.T) (*kept, []string) {
	t.Helper()
	parsed, err := spec.Stored("p", "test", wideSpec, "{}")
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.NewModel()
	made, err := m.CreatePartitions(t.Context(), []store.Partition{{Computation: "wide", Kind: store.RangePartition, Open: true}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := m.RaiseGeneration(t.Context(), made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	c := &store.Commit{Partition: job.Partition.ID, Generation: job.Partition.Generation, Computation: "wide"}
	var keys []string
	for _, a := range []string{"x", "y", "z"} {
		hash, err := schema.FarmHash(schema.String(a))
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(4) {
			key := string(schema.AppendKey(nil, schema.Uint64(hash), schema.String(a), schema.Int64(n)))
			keys = append(keys, key)
			c.States = append(c.States, store.StateWrite{Key: key, Name: "/big", Value: make([]byte, 400<<10)}, store.StateWrite{Key: key, Name: "/small", Value: []byte{1}})
		}
	}
	if err := m.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return &kept{States: m, spec: parsed}, keys
}

func TestListsGoThroughAllPages(t *testing.T) {
	k, keys := wide(t)
	comp := k.spec.Pipeline.Computations["wide"]
	form, err := newKeyForm(comp)
	if err != nil {
		t.Fatal(err)
	}
	ofX, err := form.prefix([]string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	count := func(prefix string) (n int) {
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		name         string
		prefix, from string
		limit, want  int
		more         bool
	}{
		{"all", "", "", 0, 12, false},
		{"as many as there are", "", "", 12, 12, false},
		{"some", "", "", 5, 5, true},
		{"from one on", "", keys[7], 0, 5, false},
		{"of a prefix", ofX, "", 0, count(ofX), false},
		{"some of a prefix", ofX, "", 3, 3, true},
		{"of a prefix, from one on", keys[2][:9], keys[2], 0, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			l := lister{kept: k, print: &statePrinter{out: &out, json: true}, left: c.limit, endless: c.limit == 0}
			more, err := l.list(t.Context(), comp, c.prefix, c.from)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "\n"); got != c.want || (more != "") != c.more {
				t.Fatalf("listed %d keys, more %q; want %d, %v", got, more, c.want, c.more)
			}
			checkLines(t, comp, out.String(), after(keys, max(c.prefix, c.from)))
		})
	}
}

func after(keys []string, from string) []string {
	i, _ := slices.BinarySearch(keys, from)
	return keys[i:]
}

// checkLines wants the keys one after the other, each with both states.
func checkLines(t *testing.T, comp *spec.Computation, text string, keys []string) {
	t.Helper()
	i := 0
	for line := range strings.Lines(text) {
		var got struct {
			Computation string
			Key         json.RawMessage
			States      map[string]json.RawMessage
		}
		want, err := keyObject(comp, keys[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got.Computation != "wide" || string(got.Key) != want || len(got.States) != 2 || string(got.States["/small"]) != "1" {
			t.Errorf("key %d is %s with %d states, want %s", i, got.Key, len(got.States), want)
		}
		i++
	}
}

func TestAListSaysHowToGoOn(t *testing.T) {
	k, keys := wide(t)
	comp := k.spec.Pipeline.Computations["wide"]
	var out strings.Builder
	l := lister{kept: k, names: []string{"/small"}, print: &statePrinter{out: &out}, left: 2}
	more, err := l.list(t.Context(), comp, "", "")
	next, _ := keyObject(comp, keys[2])
	if want := fmt.Sprintf("wide --from '%s'", next); err != nil || more != want {
		t.Errorf("got %q, %v; want %q", more, err, want)
	}
	if out.String() == "" || strings.Contains(out.String(), "/big") {
		t.Errorf("listed %s", out.String())
	}
	form, err := newKeyForm(comp)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := form.whole([]string{next}); err != nil || key != keys[2] {
		t.Errorf("%s is the key %x, %v; want %x", next, key, err, keys[2])
	}
}
