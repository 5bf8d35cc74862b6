package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// record is a line of a sink's file.
type record struct {
	Origin, Destination string
	Flights             int64
	TotalDelay          int64  `json:"total_delay"`
	LastFlight          string `json:"last_flight"`
	Pass                uint64
	Final               bool
}

func (r record) route() string { return r.Origin + " " + r.Destination }

// Output reads what the sinks of a completed job wrote below its data folder.
// What no timing explains is an error: a line that is not whole, a second visit
// of a route in one pass, a route that has a final snapshot and another record
// of the same or a later pass.
func Output(dataDir string) (Routes, error) {
	o := output{routes: Routes{}, visited: map[visit]string{}, final: map[string]uint64{}, last: map[string]uint64{}}
	for _, file := range []string{"snapshots.jsonl", "evicted.jsonl"} {
		err := eachLine(filepath.Join(dataDir, "out", file), func(r record) error { return o.add(r, file) })
		if err != nil {
			return nil, err
		}
	}
	for route, pass := range o.final {
		if last := o.last[route]; last > pass {
			return nil, fmt.Errorf("%s: a record of pass %d after the final snapshot of pass %d", route, last, pass)
		}
	}
	return o.routes, nil
}

// visit is one visit of a route.
type visit struct {
	route string
	pass  uint64
}

type output struct {
	routes  Routes
	visited map[visit]string  // the file with the visit's record
	final   map[string]uint64 // the pass of a route's final snapshot
	last    map[string]uint64 // the last pass with a record of the route
}

func (o *output) add(r record, file string) error {
	name := r.route()
	v := visit{name, r.Pass}
	if first, again := o.visited[v]; again {
		return fmt.Errorf("%s: a second record of pass %d, the first is in %s", name, r.Pass, first)
	}
	o.visited[v] = file
	o.last[name] = max(o.last[name], r.Pass)
	final := r.Final && file == "snapshots.jsonl"
	if final {
		if _, again := o.final[name]; again {
			return fmt.Errorf("%s: a second final snapshot", name)
		}
		o.final[name] = r.Pass
	}
	if final || file == "evicted.jsonl" {
		o.routes.add(name, r, final)
	}
	return nil
}

// add adds a life of a route, which ended with the record.
func (rs Routes) add(name string, r record, final bool) {
	sum := rs[name]
	sum.Flights += r.Flights
	sum.TotalDelay += r.TotalDelay
	sum.LastFlight = max(sum.LastFlight, r.LastFlight) // dates sort as text
	sum.Final = sum.Final || final
	rs[name] = sum
}

// eachLine decodes each line of a file of JSON lines; the last one has to be
// whole too.
func eachLine[T any](file string, f func(T) error) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return fmt.Errorf("%s: the last line is torn", file)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var v T
		err := json.Unmarshal(line, &v)
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	return nil
}
