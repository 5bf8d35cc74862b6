package visit

import (
	"fmt"
	"time"
)

// Visitor is the machine of one visit stream of one partition for one
// generation. It is not safe for concurrent use.
type Visitor struct {
	cfg      Config
	params   Params
	warnings []string

	cover coverage
	pass  record
	sched schedule
	aged  schedule  // the pass, whatever the period was meanwhile
	past  []Summary // completed passes, oldest first
	ended uint64    // passes that this Visitor has summed up

	fill   fill
	buffer buffer
	epoch  epoch
	saved  saved

	pacer     pacer
	limiter   limiter
	density   density
	processed meter
	reach     reach
	catchUp   bool
	bytesRead uint64

	upstream bool // the last level that UpstreamCompleted reported
	ordered  Run  // the last command that RunNow took
	draining bool
	short    bool // of room in the budget shared with other buffers
}

// New makes a Visitor that resumes from what is stored. Stored rows that cannot
// be used are left out and named by Warnings (KV-10). It panics if cfg or p is
// not valid; both are checked when a spec is submitted.
func New(cfg Config, p Params, st Stored, now Instant) *Visitor {
	must(cfg.validate())
	must(p.Validate())
	v := &Visitor{cfg: cfg, params: p, cover: newCoverage(cfg.Range, cfg.Buckets)}
	n := len(v.cover.buckets)
	v.fill = fill{last: n - 1, nextAt: now.Mono + cfg.FirstTick, stalls: make([]stall, n)}
	v.buffer.buckets = make([]queue[*chunk], n)
	v.restore(st, now)
	v.sched.stopped = !p.Enabled
	v.pacer.span, v.pacer.buckets = cfg.Range.Span(), uint64(n)
	v.pacer.period, v.pacer.tick, v.pacer.unlimited = v.pace()
	v.limiter.retune(p.MaxVisitsPerSecond)
	v.processed.start(now.Mono)
	v.resume(now)
	v.pacer.stagger(cfg.FirstTick)
	v.settle(now)
	return v
}

// must panics on an error of whoever made the configuration.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("visit: invalid configuration: %v", err))
	}
}

// Warnings names the stored rows that New could not use.
func (v *Visitor) Warnings() []string { return v.warnings }

// advance brings everything that accrues with time to now. Every call that
// changes the Visitor and knows the time begins with it.
func (v *Visitor) advance(now Instant) {
	if v.pacer.frozen(now.Mono) {
		v.reach.restart(now.Mono)
	}
	v.pacer.advance(now.Mono)
	v.limiter.advance(now.Mono, v.hold())
}

// hold returns for how long allowed visits are saved up: a second, or as long as
// epochs keep visits waiting.
func (v *Visitor) hold() time.Duration {
	return max(time.Second, double(v.pacer.epochs.median()))
}

// paused says whether nothing is read or handed out.
func (v *Visitor) paused() bool { return v.draining || !v.params.Enabled }

// resume begins reading and handing out with an empty allowance.
func (v *Visitor) resume(now Instant) {
	v.pacer.restart(now.Mono, v.lag(now))
	v.limiter.restart(now.Mono)
	v.reach.restart(now.Mono)
}

// lag returns the schedule lag at now (KV-45).
func (v *Visitor) lag(now Instant) time.Duration {
	return v.sched.lag(now, v.cover.scanned(), v.pacer.period)
}

// settle ends the pass if everything is committed: a final pass is summed up, any
// other is followed by the next one at once (KV-12). A run-now command ends it
// before that (KV-49). While paused or with an epoch open it waits: a rotation
// with visits in the open epoch would commit them under the wrong pass.
func (v *Visitor) settle(now Instant) {
	switch {
	case v.paused() || v.epoch.open:
	case v.due():
		v.obey(now)
	case !v.cover.all(committed):
	case v.pass.final:
		v.finish(now)
	default:
		v.rotate(now)
	}
	v.check()
}

// rotate sums up the pass and begins the next one. The store keeps the old pass
// until the next transaction, which replaces all of it: a crash before that
// finds the old coverage complete and rotates again.
func (v *Visitor) rotate(now Instant) {
	v.sumUp(now)
	v.startPass(now, v.began())
	v.retune(now)
}

// startPass starts the next pass; the caller puts its pace in force.
func (v *Visitor) startPass(now Instant, previous int64) {
	v.pass = record{
		pass:      v.pass.pass + 1,
		previous:  previous,
		final:     v.following(),
		watermark: v.pass.watermark,
		run:       v.pass.run,
		found:     v.pass.found,
	}
	v.count(now)
	v.cover.reset()
	v.pacer.behind = false
	v.fill.nextAt = now.Mono
	v.changed(now)
}

// count lets the running pass count from now.
func (v *Visitor) count(now Instant) {
	v.sched.set(now, 0)
	v.aged.set(now, 0)
}

// began returns when the running pass began: at its first read, before that at
// the rotation.
func (v *Visitor) began() int64 {
	if v.pass.start == 0 {
		return v.aged.anchor
	}
	return v.pass.start
}

// finish sums up the final pass, once: a restart between its last commit and
// the partition's completion finds the summary stored.
func (v *Visitor) finish(now Instant) {
	if n := len(v.past); n > 0 && v.past[n-1].Pass == v.pass.pass {
		return
	}
	v.sumUp(now)
	v.changed(now)
}

// sumUp adds the running pass to the summaries.
func (v *Visitor) sumUp(now Instant) {
	start := v.began()
	v.past = append(newest(v.past), Summary{
		Pass:     v.pass.pass,
		Start:    start,
		End:      max(now.Wall, start),
		Final:    v.pass.final,
		Counters: v.pass.counters,
	})
	v.past = newest(v.past)
	v.ended++
	v.saved.summaries = false
}

// Ended is the number of passes that were completed since New, one that was found
// complete and not summed up among them.
func (v *Visitor) Ended() uint64 { return v.ended }

// Summaries returns the summaries of the last 16 completed passes, oldest first.
func (v *Visitor) Summaries() []Summary { return v.past }

// Touch says that an epoch which is open or just committed wrote key. What a
// buffered visit, or a list in flight, has read of it is stale from then on
// (KV-22).
func (v *Visitor) Touch(key Key) {
	if !v.cfg.Range.Contains(key) {
		return
	}
	if f := v.fill.flight; f != nil && f.list.Range.Contains(key) {
		f.touch(key)
	}
	if v.buffer.visits > 0 {
		v.buffer.touch(v.cover.find(key), key)
	}
}
