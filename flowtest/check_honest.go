package flowtest

import (
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// Claim is what a pipeline says about the passes of one partition, or of all of
// them, at one moment.
type Claim struct {
	At time.Duration
	// Late is how long ago the counts may have been so.
	Late time.Duration
	// Owns are the keys it speaks of, nil for all.
	Owns func(flow.Key) bool
	// Pass, and how many of its visits were delivered, failed, or found their key
	// gone. Complete says that it is a summary: all keys seen are accounted for.
	Pass                          uint64
	Seen, Delivered, Failed, Gone uint64
	Complete                      bool
	// MaxAge is how long ago the least recently visited key was visited, at the
	// most; 0 if nothing is said of it.
	MaxAge time.Duration
}

// Honest demands that claims agree with the record: the visits of the pass are
// those in the log, a complete pass leaves none out, and no key has waited for
// longer than MaxAge, which is at most one pass more than the longest wait. A key
// that was never visited counts from the first visit of all: what was before the
// record began is not known to anybody.
func Honest(l *Log, pass time.Duration, claims ...Claim) error {
	f := findings{check: "HONEST"}
	for i := range claims {
		c := &claims[i]
		mine := l
		if c.Owns != nil {
			mine = l.Where(c.Owns)
		}
		mine.checkCounts(c, &f)
		if c.MaxAge != 0 {
			mine.checkAge(c, pass, &f)
		}
	}
	return f.err()
}

func (l *Log) checkCounts(c *Claim, f *findings) {
	least, most := l.count(c.Pass, c.At-c.Late), l.count(c.Pass, c.At)
	if c.Delivered < least.delivered || c.Delivered > most.delivered || c.Failed < least.failed || c.Failed > most.failed {
		f.add("at %s pass %d is said to have %d visits delivered and %d failed: %d and %d are in the record", c.At, c.Pass, c.Delivered, c.Failed, most.delivered, most.failed)
	}
	if sum := c.Delivered + c.Failed + c.Gone; c.Complete && sum != c.Seen {
		f.add("pass %d is said to be complete at %s with %d keys seen and %d accounted for", c.Pass, c.At, c.Seen, sum)
	}
}

type counts struct{ delivered, failed uint64 }

// count counts the visits of a pass up to a time.
func (l *Log) count(pass uint64, until time.Duration) (n counts) {
	for i := range l.Events {
		switch e := &l.Events[i]; {
		case e.At > until || e.Pass != pass:
		case e.Kind == VisitCall:
			n.delivered++
		case e.Kind == FailedVisit:
			n.failed++
		}
	}
	return n
}

// checkAge compares MaxAge with the key that has waited longest.
func (l *Log) checkAge(c *Claim, pass time.Duration, f *findings) {
	var oldest flow.Key
	var age time.Duration
	first := l.firstVisit()
	for _, events := range l.byKey() {
		since, there := time.Duration(0), false
		for _, e := range events {
			if e.At > c.At {
				break
			}
			if e.visit() || !there {
				since = max(e.At, first)
			}
			there = e.Left != 0
		}
		if there && c.At-since > age {
			oldest, age = events[0].Key, c.At-since
		}
	}
	if c.MaxAge < age {
		f.add("at %s no key is said to have waited for longer than %s: key %s has, for %s", c.At, c.MaxAge, oldest, age)
	}
	if c.MaxAge > age+pass {
		f.add("at %s a key is said to have waited for %s: %s is the longest, of key %s", c.At, c.MaxAge, age, oldest)
	}
}

func (l *Log) firstVisit() time.Duration {
	for i := range l.Events {
		if l.Events[i].visit() {
			return l.Events[i].At
		}
	}
	return l.End
}
