package visit

import (
	"math"
	"time"
)

// rateWindow is the window of all moving averages that are shown (KV-47).
const rateWindow = 30 * time.Second

// density estimates distinct keys per hash unit from the slices that were read
// (KV-47). It is neither reset between passes nor stored, and what is not read
// does not change it.
type density struct {
	keys, bytes, units  float64 // over the life of the process
	recent, recentBytes moving  // keys and bytes over units with a window
	first, latest       time.Duration
}

// observe takes the keys found in a read stretch of the hash space, and the size
// of their rows; an empty stretch is an observation of zero.
func (d *density) observe(mono time.Duration, keys, bytes int, units uint64) {
	if d.recent.empty() {
		d.first = mono
	}
	d.latest = mono
	d.keys += float64(keys)
	d.bytes += float64(bytes)
	d.units += float64(units)
	d.recent.observe(mono, rateWindow, float64(keys), float64(units))
	d.recentBytes.observe(mono, rateWindow, float64(bytes), float64(units))
}

// value returns keys and bytes per hash unit; unknown until a stretch of some
// length was read. Until the observations span the window all of them count
// alike.
func (d *density) value() (keys, bytes float64, known bool) {
	if d.units == 0 {
		return 0, 0, false
	}
	if d.latest-d.first < rateWindow {
		return d.keys / d.units, d.bytes / d.units, true
	}
	keys, known = d.recent.ratio()
	bytes, _ = d.recentBytes.ratio()
	return keys, bytes, known
}

// moving is the ratio of two sums whose terms fade exponentially with age.
type moving struct {
	over, under float64
	at          time.Duration
	used        bool
}

// empty says whether nothing was observed.
func (m *moving) empty() bool { return !m.used }

// observe adds terms to both sums at mono.
func (m *moving) observe(mono, window time.Duration, over, under float64) {
	keep := fade(mono-m.at, window)
	m.over, m.under = m.over*keep+over, m.under*keep+under
	m.at, m.used = mono, true
}

// ratio returns the quotient; unknown while the lower sum is zero.
func (m *moving) ratio() (float64, bool) {
	if m.under == 0 {
		return 0, false
	}
	return m.over / m.under, true
}

// fade returns the weight that is left of a term of this age.
func fade(age, window time.Duration) float64 {
	return math.Exp(-max(age, 0).Seconds() / window.Seconds())
}

// meter measures events per second with an exponential window.
type meter struct {
	events moving // events over seconds
	since  time.Duration
}

// start begins to measure.
func (m *meter) start(mono time.Duration) { m.since = mono }

// observe counts n events that happened since the last observation.
func (m *meter) observe(mono time.Duration, n int) {
	m.events.observe(mono, rateWindow, float64(n), max(mono-m.since, 0).Seconds())
	m.since = max(m.since, mono)
}

// rate returns the events per second at mono, time without events included.
func (m *meter) rate(mono time.Duration) Rate {
	now := m.events
	now.observe(mono, rateWindow, 0, max(mono-m.since, 0).Seconds())
	perSecond, known := now.ratio()
	return Rate{Value: perSecond, Known: known && m.events.used}
}
