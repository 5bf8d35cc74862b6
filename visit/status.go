package visit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rate is a number that may not be known yet; unknown differs from zero.
type Rate struct {
	Value float64
	Known bool
}

// Time is a wall time in unix nanoseconds that may be missing; missing differs
// from zero.
type Time struct {
	Value int64
	Known bool
}

// Counters count the keys of a pass (KV-16).
type Counters struct {
	// Seen are keys listed in ranges that are committed now; when a pass is
	// complete it equals the sum of the other three.
	Seen, Delivered, Failed, Gone uint64
}

// Problem is an error state of the stream.
type Problem struct {
	// Path is where it shows, such as /key_visitor/sweep/scan_cap_stall.
	Path string
	// Message says what is wrong and what to do.
	Message string
}

// BucketStatus describes one bucket in the running pass.
type BucketStatus struct {
	Range Range
	// Progress is the committed fraction.
	Progress float64
	// Stalled says that a single key of it does not fit in the row cap (KV-21).
	Stalled bool
}

// Status describes a stream at one moment: in one partition, or, after [Merge],
// in several.
type Status struct {
	Stream                           string
	Range                            Range
	Pass                             uint64
	Final, Empty, Suspended, Enabled bool
	// FinalBegun says that a pass is final: of several partitions one is enough,
	// while Final speaks of all.
	FinalBegun bool
	// Run is the last run-now command that was obeyed and Running says that its
	// pass is the running one (KV-49).
	Run     Run
	Running bool
	// PassStart is the wall time of the pass's first read in unix nanoseconds, 0
	// before it.
	PassStart int64
	// Progress is the committed fraction of the pass, Scanned the fraction that
	// is read.
	Progress, Scanned float64
	Buckets           []BucketStatus
	// Lag is how far the scan is behind its schedule (KV-45); CatchUp says that
	// slices are widened for it.
	Lag     time.Duration
	CatchUp bool
	// Left is the time that the running pass is expected to take from now on;
	// LeftKnown is false while an unpaced pass has covered nothing yet.
	Left      time.Duration
	LeftKnown bool
	// MaxAge is an upper bound of the time since the least recently visited key
	// was visited, as far back as this stream knows (KV-48).
	MaxAge time.Duration
	// System and Event are the smallest times of visits that are buffered or in
	// the open epoch, missing while there are none; Watermark is the stream's
	// (KV-46).
	System, Event, Watermark Time
	// Ready are the buffered visits and ReadyBytes the size of their rows.
	Ready, ReadyBytes int
	// Offered is the number of visits per second the scan is planned to supply,
	// OfferedBytes the size of their rows (KV-47); Processed is the number of
	// visits in committed epochs.
	Offered, OfferedBytes, Processed Rate
	// Pace is achieved divided by target pace.
	Pace Rate
	// The counters of the running pass, committed epochs only.
	Counters
	// BytesRead is what the sources read for this Visitor.
	BytesRead uint64
	// NotFound are listed names under which no pass has found a row so far, sorted;
	// none before the first pass is complete (KV-2).
	NotFound []string
	// Problems are the stream's error states, sorted by path.
	Problems []Problem
}

// Warnings are what deserves a look and is no error: listed names that no pass
// has found in any part (KV-2).
func (s Status) Warnings() (list []Problem) {
	for _, name := range s.NotFound {
		list = append(list, Problem{
			Path:    "/key_visitor/" + s.Stream + "/names",
			Message: "no pass has found a row under " + name + " so far: check names and external_names",
		})
	}
	return list
}

// Status describes the stream at now.
func (v *Visitor) Status(now Instant) Status {
	left, leftKnown := v.left(now)
	system, event := v.earliest()
	offered, offeredBytes := v.offered()
	return Status{
		Stream:     v.cfg.Stream,
		Range:      v.cfg.Range,
		Pass:       v.pass.pass,
		Final:      v.pass.final,
		Empty:      v.Empty(),
		Suspended:  v.draining,
		Enabled:    v.params.Enabled,
		FinalBegun: v.pass.final,
		Run:        v.pass.run,
		Running:    v.pass.running,
		PassStart:  v.pass.start,
		Progress:   v.cover.done(),
		Scanned:    v.cover.scanned(),
		Buckets:    v.bucketStatus(),
		Lag:        v.lag(now),
		CatchUp:    v.catchUp,
		Left:       left,
		LeftKnown:  leftKnown,
		MaxAge:     v.maxAge(now),
		System:     system,
		Event:      event,
		Watermark:  Time{v.Watermark(now), true},
		Ready:      v.buffer.visits,
		ReadyBytes: v.buffer.bytes,
		Offered:    offered, OfferedBytes: offeredBytes,
		Processed: v.processed.rate(now.Mono),
		Pace:      v.reach.pace(now.Mono, v.pacer.period),
		Counters:  v.pass.counters,
		BytesRead: v.bytesRead,
		NotFound:  v.notFound(),
		Problems:  v.problems(now),
	}
}

// Later returns the status after d in which nothing happened: keys age, and a
// scan that is behind falls back further.
func (s Status) Later(d time.Duration) Status {
	if s.Empty {
		return s
	}
	s.MaxAge += d
	if s.Lag > 0 && s.Enabled {
		s.Lag += d
	}
	return s
}

func (v *Visitor) bucketStatus() []BucketStatus {
	list := make([]BucketStatus, len(v.cover.buckets))
	for i := range list {
		one := coverage{buckets: v.cover.buckets[i : i+1], total: v.cover.buckets[i].rng.length()}
		list[i] = BucketStatus{Range: one.buckets[0].rng, Progress: one.done(), Stalled: v.fill.stalls[i].rows > 0}
	}
	return list
}

// offered returns the planned supply of visits and of bytes: density x span /
// period (KV-47).
func (v *Visitor) offered() (visits, bytes Rate) {
	if v.Empty() {
		return Rate{Known: true}, Rate{Known: true}
	}
	keys, size, known := v.density.value()
	perSecond := float64(v.cover.total) / v.pacer.period.Seconds()
	return Rate{keys * perSecond, known}, Rate{size * perSecond, known}
}

// earliest returns the smallest times of visits that are buffered or taken.
func (v *Visitor) earliest() (system, event Time) {
	if v.epoch.counters.Seen > 0 {
		system, event = Time{v.epoch.system, true}, Time{v.epoch.event, true}
	}
	for _, c := range v.buffer.chunks.live() {
		system, event = system.earlier(Time{c.system, true}), event.earlier(Time{c.event, true})
	}
	return system, event
}

// notFound returns the listed names that no pass has found, once one is complete.
func (v *Visitor) notFound() (names []string) {
	if len(v.past) == 0 {
		return nil
	}
	for _, name := range v.cfg.Names {
		if _, found := slices.BinarySearch(v.pass.found, name); !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// left returns the time that the rest of the pass takes at the period in force,
// or at the achieved pace where that is slower or nothing is paced.
func (v *Visitor) left(now Instant) (left time.Duration, known bool) {
	pace := v.reach.pace(now.Mono, v.pacer.period)
	rest := (1 - v.cover.done()) * float64(v.pacer.period)
	if rest == 0 {
		return 0, true
	}
	if !pace.Known || pace.Value == 0 {
		return time.Duration(rest), !v.pacer.unlimited
	}
	if v.pacer.unlimited || pace.Value < 1 {
		return stretch(time.Duration(rest), pace.Value), true
	}
	return time.Duration(rest), true
}

// maxAge counts from the start of the previous pass until the running one is
// committed: what is not may have been visited as early as that. In the first
// pass, and at the end of the final one, it counts from the pass's own start.
func (v *Visitor) maxAge(now Instant) time.Duration {
	oldest := v.pass.previous
	if oldest == 0 || v.cover.all(committed) {
		oldest = v.began()
	}
	return max(v.aged.elapsed(now), time.Duration(now.Wall-oldest))
}

// unanswered is how long a list may take before it shows as an error (KV-19).
const unanswered = 30 * time.Second

// problems returns the error states, sorted by path.
func (v *Visitor) problems(now Instant) []Problem {
	var list []Problem
	add := func(leaf, message string) {
		list = append(list, Problem{Path: "/key_visitor/" + v.cfg.Stream + "/" + leaf, Message: message})
	}
	advice := "lengthen period or give visits more time (visit_share, max_visits_per_second)"
	if err := v.fillError(now); err != nil {
		add("background_fill", err.Error())
		advice = "it cannot read, see background_fill"
	}
	if !v.params.Enabled {
		add("disabled", v.disabled())
	}
	if v.reach.unreachable {
		offered, _ := v.offered()
		add("period_unreachable", v.reach.message(v.reach.pace(now.Mono, v.pacer.period), offered, v.pacer.period)+"; "+advice)
	}
	if i := slices.IndexFunc(v.fill.stalls, func(s stall) bool { return s.rows > 0 }); i >= 0 {
		add("scan_cap_stall", fmt.Sprintf(
			"Key visitor stalled: a single key has more than max_scan_rows_per_iteration = %d rows", v.fill.stalls[i].rows))
	}
	slices.SortFunc(list, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// fillError returns why the fill loop makes no progress.
func (v *Visitor) fillError(now Instant) error {
	f := v.fill.flight
	if f == nil || f.discard || now.Mono-f.begun < unanswered {
		return v.fill.err
	}
	return fmt.Errorf("a list of %s has had no answer for %s", f.list.Range, (now.Mono - f.begun).Truncate(time.Second))
}

// disabled says what waits for a disabled stream (KV-39).
func (v *Visitor) disabled() string {
	message := fmt.Sprintf("pass %d rests at %.0f%%", v.pass.pass, 100*v.cover.done())
	if v.params.Finite {
		message += ", and the partition cannot complete"
	}
	return message + ", until the stream is enabled again"
}
