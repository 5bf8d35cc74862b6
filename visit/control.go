package visit

// Reconfigure takes new parameters at once; invalid ones are refused, with every
// problem named, and the old ones stay (KV-50).
func (v *Visitor) Reconfigure(now Instant, p Params) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p == v.params {
		return nil
	}
	v.advance(now)
	was := v.paused()
	if p.Enabled != v.params.Enabled {
		v.sched.stop(now, !p.Enabled)
		v.changed(now)
	}
	v.params = p
	v.limiter.retune(p.MaxVisitsPerSecond)
	v.fill.nextAt = now.Mono
	for i := range v.fill.stalls {
		v.fill.stalls[i].until = now.Mono
	}
	v.switched(now, was)
	v.follow(now)
	return nil
}

// Drain stops reading and handing out, or resumes it. Buffered visits are
// dropped and read again later (KV-39).
func (v *Visitor) Drain(now Instant, on bool) {
	v.advance(now)
	was := v.paused()
	v.draining = on
	v.switched(now, was)
}

// Suspended says that the stream is draining.
func (v *Visitor) Suspended() bool { return v.draining }

// switched drops or resumes the work if the pause began or ended.
func (v *Visitor) switched(now Instant, was bool) {
	switch paused := v.paused(); {
	case paused && !was:
		v.drop()
		v.check()
	case was && !paused:
		v.resume(now)
		v.fill.nextAt = now.Mono
		v.settle(now)
	}
}

// drop forgets what is read and not taken. While an epoch is open it waits for
// the commit: visits may be under way that were offered before the pause.
func (v *Visitor) drop() {
	if v.epoch.open {
		return
	}
	v.cover.turn(buffered, pending)
	v.buffer.clear()
	v.fill.err = nil
	if f := v.fill.flight; f != nil {
		f.discard, f.touched, f.overflow = true, nil, true
	}
}
