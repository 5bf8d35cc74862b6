package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Figures are sums over all routes.
type Figures struct {
	// FinalRoutes are the routes with a final snapshot.
	FinalRoutes int
	// Flights and TotalDelay, in minutes, are over final snapshots and evictions.
	Flights, TotalDelay int64
	// Routes are the distinct routes in final snapshots and evictions.
	Routes int
}

// Exact are the figures of the flights job, whatever the timing.
func Exact() Figures {
	return Figures{FinalRoutes: 1643, Flights: 20_000, TotalDelay: 154_078, Routes: 2977}
}

// Route is what is known of one route in the end.
type Route struct {
	// Flights and TotalDelay are over all lives of the route: each eviction ends
	// one, the final snapshot the last.
	Flights, TotalDelay int64
	// LastFlight is the date of the latest flight, in the input's form.
	LastFlight string
	// Final: it was not evicted in the end.
	Final bool
}

// Routes holds routes by "origin destination".
type Routes map[string]Route

// Sum adds the routes up.
func (rs Routes) Sum() Figures {
	f := Figures{Routes: len(rs)}
	for _, r := range rs {
		f.Flights += r.Flights
		f.TotalDelay += r.TotalDelay
		if r.Final {
			f.FinalRoutes++
		}
	}
	return f
}

// Check tells what is wrong with a completed job: dataDir is its data folder,
// input the file that it read.
func Check(dataDir, input string) error {
	got, err := Output(dataDir)
	if err != nil {
		return err
	}
	want, err := Input(input)
	if err != nil {
		return err
	}
	return want.compare(got)
}

// shown is how many different routes an error lists.
const shown = 5

func (rs Routes) compare(got Routes) error {
	all := maps.Clone(rs)
	maps.Copy(all, got)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if rs[name] != got[name] {
			lines = append(lines, fmt.Sprintf("%s: got %+v, want %+v", name, got[name], rs[name]))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%d routes are wrong; got %+v, want %+v:\n%s", len(lines), got.Sum(), rs.Sum(),
		strings.Join(lines[:min(shown, len(lines))], "\n"))
}
