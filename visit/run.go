package visit

import (
	"fmt"
	"time"
)

// Run is a run-now command: one pass at a pace of its own, begun at once
// (KV-49).
type Run struct {
	// ID tells the commands of a stream apart; a later one has a larger ID. 0 is
	// no command.
	ID uint64
	// Period is the target length of the pass; 0 reads as fast as the visits are
	// taken.
	Period time.Duration
}

// RunNow tells the stream's stored run-now command. The running pass ends here
// with its coverage dropped, and the command's pass begins: at once, or when an
// open epoch or a pause ends. It is a level: a command that was obeyed changes
// nothing, so that a driver may repeat it, and does so at the start of a job,
// because a crash before the new pass is stored undoes the rotation.
//
// The error says why a command cannot be obeyed: during the pass of another one
// and during a final pass. Nothing changes then, and a repeated call may
// succeed later.
func (v *Visitor) RunNow(now Instant, r Run) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.ID <= max(v.pass.run.ID, v.ordered.ID) {
		return nil
	}
	if err := v.Status(now).RefuseRunNow(); err != nil {
		return err
	}
	v.advance(now)
	v.ordered = r
	v.settle(now)
	return nil
}

// Validate reports a command that no pass can follow.
func (r Run) Validate() error {
	return check(r.Period >= 0 && r.Period <= longest, "the period of run-now", "be at least 0 and at most 100 years", r.Period)
}

// RefuseRunNow returns why a run-now command cannot be given to the stream now,
// nil if it can. On the merged status of all partitions this is the check
// before a command is stored.
func (s Status) RefuseRunNow() error {
	switch {
	case s.FinalBegun && !s.Empty:
		return fmt.Errorf("visit stream %s is in its final pass, %.0f%% of pass %d is done: it visits every key anyway", s.Stream, 100*s.Progress, s.Pass)
	case s.Empty:
		return fmt.Errorf("visit stream %s has completed: set finite=%%false and repartition its computation to start it again", s.Stream)
	case s.Running:
		return fmt.Errorf("visit stream %s carries out a run-now already, %.0f%% of pass %d is done: wait until it is over", s.Stream, 100*s.Progress, s.Pass)
	}
	return nil
}

// due says whether a command waits to be obeyed. A pass that is final by now
// visits everything and is not begun again.
func (v *Visitor) due() bool { return v.ordered.ID > v.pass.run.ID && !v.pass.final }

// obey drops the running pass and begins the one that was ordered. What is read
// belongs to the dropped pass, and so does what a list in flight will bring: it
// may lack a key that was written before this pass began.
func (v *Visitor) obey(now Instant) {
	v.drop()
	previous := v.pass.previous
	switch {
	case v.cover.all(committed): // by what an epoch or a pause kept from rotating
		v.sumUp(now)
		previous = v.began()
	case previous == 0:
		previous = v.began()
	}
	v.startPass(now, previous)
	v.pass.run, v.pass.running = v.ordered, true
	v.retune(now)
}
