package figures

import "time"

// keep is how long a route is kept after its last flight.
const keep = 14 * 24 * time.Hour

// flight is a line of the input.
type flight struct {
	Date                string
	Delay               int64
	Origin, Destination string
}

// Input computes what the job has to come to, by a plain loop over the flights.
func Input(file string) (Routes, error) {
	routes := Routes{}
	last := map[string]time.Time{}
	var end time.Time
	err := eachLine(file, func(f flight) error {
		at, err := time.Parse("2006/01/02 15:04", f.Date)
		if err != nil {
			return err
		}
		name := f.Origin + " " + f.Destination
		r := routes[name]
		r.Flights++
		r.TotalDelay += f.Delay
		if !at.Before(last[name]) {
			last[name], r.LastFlight = at, f.Date
		}
		routes[name] = r
		if at.After(end) {
			end = at
		}
		return nil
	})
	for name, r := range routes {
		r.Final = end.Sub(last[name]) <= keep
		routes[name] = r
	}
	return routes, err
}
