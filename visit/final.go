package visit

import "time"

// UpstreamCompleted reports whether every followed upstream is completed and
// all its messages are consumed in committed epochs. It is a level: repeating
// it changes nothing (KV-33). It is remembered while finite is false, where it
// has no effect, so that it counts once finite is true (KV-35).
func (v *Visitor) UpstreamCompleted(now Instant, done bool) {
	if v.upstream == done && (v.pass.final || !v.following()) {
		return
	}
	v.advance(now)
	v.upstream = done
	v.follow(now)
}

// following says whether the stream acts on the completion of its upstreams.
func (v *Visitor) following() bool { return v.params.Finite && v.upstream }

// follow applies the signal, as often as it is asked: the running pass becomes
// the final one if that is enough, else the next one will be (KV-34). A final
// mark is never taken back.
func (v *Visitor) follow(now Instant) {
	if v.following() && !v.pass.final && (!v.params.FullFinalPass || v.untouched()) {
		v.pass.final = true
		v.changed(now)
	}
	v.retune(now)
	v.settle(now)
}

// untouched says whether the running pass has swept nothing and cannot be about
// to: a list in flight may have read before the last messages were applied, so
// its pass is no full one.
func (v *Visitor) untouched() bool {
	f := v.fill.flight
	return (f == nil || f.discard) && v.cover.all(pending)
}

// pace returns the period in force, the tick, and whether reading is not paced at
// all (KV-34, KV-49).
func (v *Visitor) pace() (period, tick time.Duration, unlimited bool) {
	own, other := v.otherPeriod()
	period = v.params.Period
	if other && own > 0 {
		period = own
	}
	unlimited = other && own == 0
	return period, v.params.tick(period), unlimited
}

// otherPeriod returns the period that stands in for the ordinary one, if any does:
// from the signal on final_pass_period, before it that of a run-now command.
func (v *Visitor) otherPeriod() (time.Duration, bool) {
	switch {
	case (v.following() || v.pass.final) && !v.cfg.NoUpstreams:
		return v.params.FinalPassPeriod, true
	case v.pass.running:
		return v.pass.run.Period, true
	}
	return 0, false
}

// retune puts the pace in force, keeping the lag of this moment (KV-45).
func (v *Visitor) retune(now Instant) {
	period, tick, unlimited := v.pace()
	p := &v.pacer
	if period == p.period && tick == p.tick && unlimited == p.unlimited {
		return
	}
	if period != p.period {
		v.sched.rebase(now, v.cover.scanned(), p.period, period)
		v.fill.flight.reprice(p.period, period)
	}
	p.retune(period, tick, unlimited)
	v.reach.anew(now.Mono)
	v.fill.nextAt = now.Mono
}

// Final says whether the running pass is the final one.
func (v *Visitor) Final() bool { return v.pass.final }

// Empty says that the scan is over: the pass is final and all of it is
// committed (KV-37).
func (v *Visitor) Empty() bool { return v.pass.final && v.cover.all(committed) }

// Retire returns what the transaction that marks the partition Completed must
// write: everything stored of the stream goes but the pass summaries (KV-37).
// It panics unless the Visitor is Empty.
func (v *Visitor) Retire() Delta {
	if !v.Empty() {
		panic("visit: retire a stream whose final pass is not committed")
	}
	d := Delta{Remove: true}
	if !v.saved.summaries {
		d.Summaries = encodeSummaries(v.past)
	}
	return d
}
