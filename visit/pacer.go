package visit

import (
	"math/bits"
	"time"
)

const (
	// slicesPerPeriod is how many minimum slices a period has at most, and
	// longestMinimum the most time one is worth (KV-23).
	slicesPerPeriod = 2000
	longestMinimum  = time.Minute
	// freezeSlack is added to every gap that is still taken for normal running.
	freezeSlack = time.Second
	// manyTurns is how many turns of a bucket make a turn small beside a pass.
	manyTurns = 5
)

// pacer grants hash units at the base rate, span per period (KV-25).
//
// The allowance is kept as the time in which the base rate earns it, not as
// units: so no span up to 2^64-1 overflows, a pace below one unit per tick adds
// up, and the limits of the rules, which are times, need no conversion. At most
// one period's worth is held, so products fit in 128 bits and their quotients
// in 64.
type pacer struct {
	span      uint64
	period    time.Duration // in force (KV-34)
	tick      time.Duration
	buckets   uint64
	unlimited bool

	credit time.Duration // allowance at the time at
	at     time.Duration
	used   bool // something was read since the last restart
	behind bool // the pass lagged when it was resumed: no turns until the next one
	epochs epochTimes
}

// rate returns the base rate in hash units per second.
func (p *pacer) rate() float64 { return float64(p.span) / p.period.Seconds() }

// worth returns the time in which the base rate earns units, rounded up; units
// are at most the span.
func (p *pacer) worth(units uint64) time.Duration {
	return time.Duration(ceilOf(uint64(p.period), units, p.span))
}

// units returns what the base rate earns in d, which is at most the period.
func (p *pacer) units(d time.Duration) uint64 {
	return floorOf(p.span, uint64(d), uint64(p.period))
}

// minimum returns the worth of the smallest slice (KV-23).
func (p *pacer) minimum() time.Duration {
	return max(min(p.period/slicesPerPeriod, longestMinimum), p.worth(1))
}

// limit returns the most allowance that is held (KV-25).
func (p *pacer) limit() time.Duration {
	return min(p.period, max(
		p.minimum(),
		double(p.tick),
		min(p.period/10, time.Second),
		double(p.epochs.median()),
	))
}

// frozen says whether the time since the last observation is longer than any
// waiting between two reads, or any epoch, so that the process stood still.
func (p *pacer) frozen(mono time.Duration) bool {
	return p.used && mono-p.at > double(max(p.limit(), p.epochs.longest()))+freezeSlack
}

// allowance returns the credit at mono, which stops growing at the limit. A
// process that was frozen is behind and starts with one minimum slice instead,
// so that it owes a paced pass and not a burst.
func (p *pacer) allowance(mono time.Duration) time.Duration {
	if p.frozen(mono) {
		return p.minimum()
	}
	return min(p.credit+max(mono-p.at, 0), p.limit())
}

// advance brings the credit to mono.
func (p *pacer) advance(mono time.Duration) {
	p.behind = p.behind || p.frozen(mono)
	p.credit = p.allowance(mono)
	p.at = max(p.at, mono)
}

// restart empties the allowance, but for one minimum slice if the pass lags by
// more than that: restarts more frequent than minimum slices, or turns, must not
// stop it.
func (p *pacer) restart(mono, lag time.Duration) {
	p.at, p.credit, p.used = mono, 0, false
	if lag > p.minimum() {
		p.credit, p.behind = p.minimum(), true
	}
}

// stagger delays the first slice of a stream whose slices come more rarely than
// its ticks, by as much of a minimum slice as first is of a tick: else all
// partitions that start together would go on reading at the same moments
// (KV-26).
func (p *pacer) stagger(first time.Duration) {
	if slice := min(p.period/slicesPerPeriod, longestMinimum); slice > p.tick {
		p.at += part(min(float64(first)/float64(p.tick), 1), slice)
	}
}

// retune changes the pace. The credit stays worth as many units as before.
func (p *pacer) retune(period, tick time.Duration, unlimited bool) {
	units := p.units(min(p.credit, p.period))
	p.period, p.tick, p.unlimited = period, tick, unlimited
	p.credit = min(p.worth(units), p.limit())
}

// turn returns the units that a bucket of this span reads when it is its turn, 0
// for whatever is granted. Turns are the same parts of every pass in the same
// order: where slices are what there is allowance for, a key is early in one pass
// and late in the next, and waits for longer than it may (KV-48). A turn is worth a
// tick, so that it is earned between two, or a bucket. Where a bucket has many turns
// in a pass, a turn more or less matters little, and what is granted is read at
// once, which leaves room for epochs.
func (p *pacer) turn(mono time.Duration, span uint64) uint64 {
	if p.unlimited || p.behind || p.frozen(mono) || p.buckets <= 1 || span == 0 {
		return 0
	}
	ticks := uint64(max(p.period/max(p.tick, p.minimum()), 1))
	turns := (ticks + p.buckets - 1) / p.buckets
	if turns >= manyTurns {
		return 0
	}
	return (span-1)/turns + 1
}

// need returns the credit without which a pending range is not read.
func (p *pacer) need(span, turn uint64) time.Duration {
	switch {
	case p.unlimited:
		return 0
	case turn > 0:
		return min(p.worth(min(turn, span)), p.limit())
	}
	return min(p.minimum(), p.worth(span))
}

// grant returns how many units of a pending range may be read at mono, 0 for
// none yet.
func (p *pacer) grant(mono time.Duration, span, turn uint64) uint64 {
	if p.unlimited {
		return span
	}
	credit := p.allowance(mono)
	if credit < p.need(span, turn) {
		return 0
	}
	return min(p.units(credit), span)
}

// readyAt returns the time from which a range of this span is granted, 0 if it is
// granted already.
func (p *pacer) readyAt(span, turn uint64) time.Duration {
	missing := p.need(span, turn) - p.credit
	if missing <= 0 {
		return 0
	}
	return p.at + missing
}

// charge takes the price of units and returns it. Prices are rounded down and
// refunds up, so that what is left after many cuts still pays for the rest.
func (p *pacer) charge(units uint64) time.Duration {
	if p.unlimited {
		return 0
	}
	price := time.Duration(floorOf(uint64(p.period), units, p.span))
	p.credit -= price
	p.used = true
	return price
}

// refund gives back the share of a price that part is of whole (KV-20).
func (p *pacer) refund(price time.Duration, part, whole uint64) {
	p.credit = min(p.credit+time.Duration(ceilOf(uint64(price), part, whole)), p.limit())
}

// floorOf returns x * part / whole, rounded down; part is at most whole.
func floorOf(x, part, whole uint64) uint64 {
	hi, lo := bits.Mul64(x, part)
	quo, _ := bits.Div64(hi, lo, whole)
	return quo
}

// ceilOf is floorOf rounded up.
func ceilOf(x, part, whole uint64) uint64 {
	hi, lo := bits.Mul64(x, part)
	quo, rem := bits.Div64(hi, lo, whole)
	if rem > 0 {
		quo++
	}
	return quo
}

// double returns 2d, or the largest duration if that would overflow.
func double(d time.Duration) time.Duration {
	if twice := 2 * d; twice/2 == d {
		return twice
	}
	return 1<<63 - 1
}
