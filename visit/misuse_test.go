package visit

import (
	"fmt"
	"strings"
	"testing"
)

// TestMisusePanics shows that a driver which breaks the order of calls is told
// so in a sentence, before anything moves.
func TestMisusePanics(t *testing.T) {
	for _, c := range []struct {
		says string
		do   func(r *rig)
	}{
		{"filling is serialised with epochs", func(r *rig) { l, _ := r.begin(); r.v.EpochOpened(r.now); r.v.Listed(r.now, l.Token, nil) }},
		{"filling is serialised with epochs", func(r *rig) { l, _ := r.begin(); r.v.EpochOpened(r.now); r.v.ListFailed(r.now, l.Token, nil) }},
		{"filling is serialised with epochs", func(r *rig) {
			l, _ := r.v.NextList(r.now)
			r.v.EpochOpened(r.now)
			r.v.AcceptList(r.now, l)
		}},
		{"a failed epoch restarts the job", func(r *rig) { r.v.EpochOpened(r.now); r.v.EpochOpened(r.now) }},
		{"did not offer", func(r *rig) { l, _ := r.v.NextList(r.now); l.MaxBytes++; r.v.AcceptList(r.now, l) }},
		{"did not offer", func(r *rig) { l, _ := r.begin(); r.v.AcceptList(r.now, l) }},
		{"one answer from each of 1 sources, got 2", func(r *rig) { l, _ := r.begin(); r.v.Listed(r.now, l.Token, make([]Answer, 2)) }},
		{"accept visits without an open epoch", func(r *rig) { r.v.AcceptVisits(r.now, Outcome{}) }},
		{"of 16 buffered visits", func(r *rig) { r.fill(); r.v.EpochOpened(r.now); r.v.AcceptVisits(r.now, Outcome{Delivered: 17}) }},
		{"of 16 buffered visits", func(r *rig) {
			r.fill()
			r.v.EpochOpened(r.now)
			r.v.AcceptVisits(r.now, Outcome{Delivered: 2, Gone: -1})
		}},
		{"delta without an open epoch", func(r *rig) { r.v.Delta() }},
		{"commit without an open epoch", func(r *rig) { r.v.EpochCommitted(r.now) }},
		{"without the Delta that holds its visits", func(r *rig) {
			r.fill()
			r.v.EpochOpened(r.now)
			r.v.Delta()
			r.v.AcceptVisits(r.now, Outcome{Delivered: 1})
			r.v.EpochCommitted(r.now)
		}},
		{"without the Delta that holds its visits and its watermark", func(r *rig) {
			r.v.EpochOpened(r.now)
			r.v.AnnounceWatermark(1)
			r.v.EpochCommitted(r.now)
		}},
		{"announce a watermark without an open epoch", func(r *rig) { r.v.AnnounceWatermark(1) }},
		{"retire a stream whose final pass is not committed", func(r *rig) { r.v.Retire() }},
		{"bucket_count must be at least 1, got 0", func(r *rig) { r.cfg.Buckets = 0; r.start() }},
		{"period must be greater than 0", func(r *rig) { r.params.Period = 0; r.start() }},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := newRig(spaced(5, 80), nil).tokens()
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), c.says) {
					t.Errorf("panicked with %v", p)
				}
			}()
			c.do(r)
		})
	}
}
