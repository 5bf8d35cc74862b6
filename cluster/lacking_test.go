package cluster_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// own is a pipeline with a function that only some programs have, between a source and
// a queue.
const own = `{ name = own; spec = {
  streams = { rows = {schema = [{name=n;type=string}]}; out = {schema = [{name=n;type=string}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {made = {source_class_name = %s; parameters = {%s}}} };
    shouter = { computation_class_name = transform; processing_function = shout; %s
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(n)"}; {name=n;type=string}];
      input_stream_ids = [rows]; output_stream_ids = [out]; streams_dependency = {out = [rows]};
      sinks = {out = {sink_class_name = queue; input_stream_ids = [out]; parameters = {path = out}}} } } };
  dynamic_spec = {computations = {shouter = {desired_partition_count = 3}}} }`

// made is a source of rows that takes a while.
const made = `partitions = 2; count = 4000; finite = %true; rate = 4000; keys = {count = 100}; columns = {n = {kind = key}}`

func ownJob(group string) string { return fmt.Sprintf(own, "datagen", made, group) }

func fileJob(paths string) string {
	return fmt.Sprintf(own, "file", `paths = [`+paths+`]; finite = %true`, "")
}

// TestAWorkerGetsNoComputationThatItLacksSomethingFor: a program with a function of its
// own, and one that knows not all of the spec, run a pipeline together. While there is
// the second alone, the status says what is lacking, and where.
func TestAWorkerGetsNoComputationThatItLacksSomethingFor(t *testing.T) {
	t.Parallel()
	with := &program{functions: []string{"shout"}}
	for want, without := range map[string]*program{
		`no function "shout"`: {},
		`no sink "queue"`:     {functions: []string{"shout"}, queueless: true},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			shareWith(t, with, without, want)
		})
	}
}

func shareWith(t *testing.T, with, without *program, want string) {
	r := newRig(t)
	r.must(r.submit(with, ownJob("")))
	a := r.hire(without)
	r.await("the status to say what is lacking", func() bool { return a.problem("shouter") != "" })
	if got := a.problem("shouter"); !strings.Contains(got, a.id+": "+want) {
		t.Errorf("the status says: %s", got)
	}
	b := r.hire(with)
	r.await("the status to be well", func() bool { return a.problem("shouter") == "" && b.pipeline() != nil })
	r.await("the other worker to have it", func() bool {
		owners := slices.Collect(maps.Values(r.owners("shouter")))
		if slices.Contains(owners, a.id) {
			t.Fatal("a partition of shouter belongs to the worker that cannot run it")
		}
		v, err := r.look.View(t.Context())
		r.must(err)
		return slices.Contains(owners, b.id) || v.Unfinished == 0
	})
	r.must(r.ended(a))
	r.must(r.ended(b))
	if n := r.pulled("out"); n != 4000 {
		t.Errorf("%d rows came out of 4000", n)
	}
}

// TestEachWorkerReadsTheFilesThatItHas: of three files each of two workers has one, and
// nobody the third, which is an error in the status until it comes.
func TestEachWorkerReadsTheFilesThatItHas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	here, there, all := t.TempDir(), t.TempDir(), t.TempDir()
	for i, name := range []string{"a", "b", "c"} {
		var text strings.Builder
		for n := range 100 * (i + 1) {
			fmt.Fprintf(&text, "{\"n\": \"%s%d\"}\n", name, n)
		}
		for _, dir := range []string{all, []string{here, there, ""}[i]} {
			if dir != "" {
				write(t, dir, name+".jsonl", text.String())
			}
		}
	}
	shout := []string{"shout"}
	r.must(r.submit(&program{functions: shout, specDir: all}, fileJob(`"a.jsonl"; "b.jsonl"; "c.jsonl"`)))
	a, b := r.hire(&program{functions: shout, specDir: here}), r.hire(&program{functions: shout, specDir: there})
	r.await("the files to be given out", func() bool {
		r.await("status", func() bool { return a.pipeline() != nil && b.pipeline() != nil })
		owners := r.owners("reader")
		if owners["made/a.jsonl0"] == b.id || owners["made/b.jsonl0"] == a.id {
			t.Fatalf("files belong to workers that have others: %v", owners)
		}
		return r.pulled("out") == 300
	})
	r.await("the status to say what is lacking", func() bool { return strings.Contains(b.problem("reader"), "made/c.jsonl") })
	if got := b.problem("reader"); !strings.Contains(got, a.id+": ") || !strings.Contains(got, b.id+": ") {
		t.Errorf("the status says: %s", got)
	}
	var text strings.Builder
	for n := range 300 {
		fmt.Fprintf(&text, "{\"n\": \"c%d\"}\n", n)
	}
	write(t, there, "c.jsonl", text.String())
	r.must(r.ended(a))
	r.must(r.ended(b))
	if n := r.pulled("out"); n != 600 {
		t.Errorf("%d rows came out of 600", n)
	}
}
