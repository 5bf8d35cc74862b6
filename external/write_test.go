package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/schema"
)

// TestASortThatEndsAnywhereLeavesOneWholeTable ends the writing of a table after each
// of its steps, as a crash does: the path then has the former table or the new one,
// with its types, and the next sort leaves nothing of the crash.
func TestASortThatEndsAnywhereLeavesOneWholeTable(t *testing.T) {
	former, same, longer := valuesFrom(30, 100), valuesFrom(30, 200), valuesFrom(30, 1000)
	for _, format := range formats {
		for name, next := range map[string]map[string]int64{"as many bytes": same, "more bytes": longer} {
			t.Run(name+" of"+format, func(t *testing.T) {
				for steps, ended := 0, false; !ended; steps++ {
					path := filepath.Join(t.TempDir(), "t"+format)
					writeTable(t, path, former)
					ended = crashAfter(t, path, next, steps)
					got := readAll(t, path)
					if is, was := maps.Equal(got, next), maps.Equal(got, former); !is && !was || steps == 0 && is || ended && was {
						t.Fatalf("after %d steps, all: %v, the table is %v", steps, ended, got)
					}
					writeTable(t, path, next)
					if got := readAll(t, path); !maps.Equal(got, next) {
						t.Fatalf("after %d steps and another sort: %v", steps, got)
					}
					if _, err := os.Stat(path + MetaSuffix + nextSuffix); !errors.Is(err, os.ErrNotExist) {
						t.Fatalf("after %d steps and another sort: %v", steps, err)
					}
				}
			})
		}
	}
}

// crashAfter writes a table up to a number of steps, true if these are all.
func crashAfter(t *testing.T, path string, rows map[string]int64, n int) bool {
	t.Helper()
	o, err := create(path, mustSchema(t,
		schema.Column{Name: "hash", Type: schema.TypeUint64, Required: true},
		schema.Column{Name: "name", Type: schema.TypeUTF8, Required: true},
		schema.Column{Name: "value", Type: schema.TypeInt64}))
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]schema.Row{}
	for name, value := range rows {
		h, _ := schema.FarmHash(schema.String(name))
		byKey[keyOf(t, name)] = schema.Row{schema.Uint64(h), schema.String(name), schema.Int64(value)}
	}
	for _, key := range sortedKeys(byKey) {
		if err := o.write(byKey[key]); err != nil {
			t.Fatal(err)
		}
	}
	steps := o.steps()
	for _, step := range steps[:n] {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if !o.closed { // a crash closes it
		if err := o.file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return n == len(steps)
}

func valuesFrom(n int, first int64) map[string]int64 {
	rows := map[string]int64{}
	for i := range n {
		rows[fmt.Sprintf("k%06d", i)] = first + int64(i)
	}
	return rows
}

// TestAReaderBesideASortNeverSeesAMixture opens a text after each step of a sort that
// happens while it is opened.
func TestAReaderBesideASortNeverSeesAMixture(t *testing.T) {
	former, next := valuesFrom(30, 100), valuesFrom(30, 200)
	for _, format := range formats {
		for at := range 12 { // reads of the file and of what lies beside it
			path := filepath.Join(t.TempDir(), "t"+format)
			writeTable(t, path, former)
			r := newRig(t, path, "", "")
			reads := 0
			r.joiner.source.disk = &faultyDisk{fail: func() error {
				if reads++; reads == at {
					writeTable(t, path, next)
				}
				return nil
			}}
			a, err := r.scan().List(context.Background(), whole())
			if err != nil {
				t.Fatalf("%s, sorted at read %d: %v", format, at, err)
			}
			if a.Unreadable {
				continue // its slice is listed again
			}
			if got := valuesOf(a.Entries); !maps.Equal(got, former) && !maps.Equal(got, next) {
				t.Errorf("%s, sorted at read %d: %v", format, at, got)
			}
		}
	}
}
