package external

import (
	"fmt"
	"time"
)

// outage decides whether a source may be read (KV-53). It is pure: time is an
// argument.
type outage struct {
	failed error // why the last read failed, nil while the source is well
	until  time.Duration
}

// errUnavailable is a list that fails without a read.
type errUnavailable struct {
	err  error
	wait time.Duration
}

func (e *errUnavailable) Error() string {
	return fmt.Sprintf("%v (it is read again in %s)", e.err, e.wait.Round(time.Second))
}

func (e *errUnavailable) Unwrap() error { return e.err }

// ask returns why the source must not be read now. The first that may read after a
// back-off is a probe.
func (o *outage) ask(now time.Duration) error {
	if o.failed == nil || now >= o.until {
		return nil
	}
	return &errUnavailable{o.failed, o.until - now}
}

// fail begins a back-off, or renews it.
func (o *outage) fail(now time.Duration, err error, backoff time.Duration) {
	o.failed, o.until = err, now+backoff
}

// heal ends it.
func (o *outage) heal() { o.failed = nil }

// shrunk decides whether a version with some rows is believed after one with
// before rows (KV-55); before is -1 when no pass has been completed.
func shrunk(before, rows int64, most float64) bool {
	return before > 0 && rows < before && float64(before-rows) > most*float64(before)
}
