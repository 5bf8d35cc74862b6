package visit

import "time"

// Visitor is the machine of one visit stream of one partition for one
// generation. It is not safe for concurrent use.
type Visitor struct{}

// New makes a Visitor that resumes from what is stored. Stored rows that cannot
// be used are left out and named by Warnings (KV-10). It panics if cfg or p is
// not valid; both are checked when a spec is submitted.
func New(cfg Config, p Params, st Stored, now Instant) *Visitor { panic("not built yet") }

// Warnings names the stored rows that New could not use.
func (v *Visitor) Warnings() []string { panic("not built yet") }

// NextList offers the next list to read, if one may begin now. It changes
// nothing.
func (v *Visitor) NextList(now Instant) (List, bool) { panic("not built yet") }

// AcceptList begins the list that NextList offered at the same instant.
func (v *Visitor) AcceptList(now Instant, l List) { panic("not built yet") }

// Outstanding returns the token of the list that has begun and has no answer
// yet.
func (v *Visitor) Outstanding() (Token, bool) { panic("not built yet") }

// Listed takes the answers to a list, one per source in their fixed order. A
// token that is not the outstanding one changes nothing.
func (v *Visitor) Listed(now Instant, t Token, answers []Answer) { panic("not built yet") }

// ListFailed says that a list, or one source of it, failed. Nothing of the slice
// is covered, the error shows in the status, and the slice is retried at the
// next tick (KV-19). A token that is not the outstanding one changes nothing.
func (v *Visitor) ListFailed(now Instant, t Token, err error) { panic("not built yet") }

// WakeAt returns the monotonic time at which NextList may say yes if nothing
// else happens before; not ok means that it waits for another event.
func (v *Visitor) WakeAt(now Instant) (at time.Duration, ok bool) { panic("not built yet") }

// Touch says that an epoch which is open or just committed wrote key. What a
// buffered visit, or a list in flight, has read of it is stale from then on
// (KV-22).
func (v *Visitor) Touch(key Key) { panic("not built yet") }

// Buffered returns the number of visits that are ready.
func (v *Visitor) Buffered() int { panic("not built yet") }

// BufferedBytes returns the size of the rows they bring along.
func (v *Visitor) BufferedBytes() int { panic("not built yet") }

// ReadyAt returns the monotonic time at which waiting visits deserve an epoch of
// their own: at once when batch of them are ready or nothing can be added to
// them, else after min(1 s, period/40) (KV-32). Not ok: there are none.
func (v *Visitor) ReadyAt(now Instant, batch int) (at time.Duration, ok bool) {
	panic("not built yet")
}

// NextVisits appends to dst the first n visits that may be delivered, fewer if
// fewer are ready or max_visits_per_second allows fewer. It changes nothing.
func (v *Visitor) NextVisits(now Instant, dst []Visit, n int) []Visit { panic("not built yet") }

// AcceptVisits says that the first visits NextVisits offered were handled in the
// open epoch, in any of the three ways.
func (v *Visitor) AcceptVisits(o Outcome) { panic("not built yet") }

// EpochOpened begins an epoch: until EpochCommitted no list begins or is
// answered and no pass ends.
func (v *Visitor) EpochOpened(now Instant) { panic("not built yet") }

// Delta returns what the open epoch's transaction must write. It changes
// nothing and may be asked again when the transaction is repeated.
func (v *Visitor) Delta() Delta { panic("not built yet") }

// EpochCommitted says that the open epoch, with the last Delta, is durable. An
// epoch that failed has no call: the driver drops the Visitor and makes a new
// one from what is stored.
func (v *Visitor) EpochCommitted(now Instant) { panic("not built yet") }

// StoreBy returns the monotonic time at which an epoch must have committed, so
// that coverage without visits or a new pass does not stay unstored for more
// than 5 s (KV-10, KV-12). Not ok: nothing waits.
func (v *Visitor) StoreBy() (at time.Duration, ok bool) { panic("not built yet") }

// Watermark returns the stream's watermark in unix nanoseconds: the smallest
// event time of all visits buffered or in the open epoch, else now less the
// schedule lag; never less than what was announced (KV-46).
func (v *Visitor) Watermark(now Instant) int64 { panic("not built yet") }

// AnnounceWatermark says that the open epoch's transaction reports w as the
// stream's watermark; later visits are never earlier than it.
func (v *Visitor) AnnounceWatermark(w int64) { panic("not built yet") }

// UpstreamCompleted reports whether every followed upstream is completed and
// all its messages are consumed in committed epochs. It is a level: repeating
// it changes nothing (KV-33).
func (v *Visitor) UpstreamCompleted(now Instant, done bool) { panic("not built yet") }

// Reconfigure takes new parameters at once; invalid ones are refused and the old
// ones stay.
func (v *Visitor) Reconfigure(now Instant, p Params) error { panic("not built yet") }

// Drain stops reading and handing out, or resumes it. Buffered visits are
// dropped and read again later (KV-39).
func (v *Visitor) Drain(now Instant, on bool) { panic("not built yet") }

// Empty says that the scan is over: the pass is final and all of it is
// committed (KV-37).
func (v *Visitor) Empty() bool { panic("not built yet") }

// Final says whether the running pass is the final one.
func (v *Visitor) Final() bool { panic("not built yet") }

// Suspended says that the stream is draining.
func (v *Visitor) Suspended() bool { panic("not built yet") }

// Retire returns what the transaction that marks the partition Completed must
// write: everything stored of the stream goes but the pass summaries (KV-37).
// It panics unless the Visitor is Empty.
func (v *Visitor) Retire() Delta { panic("not built yet") }

// Summaries returns the summaries of the last 16 completed passes, oldest first.
func (v *Visitor) Summaries() []Summary { panic("not built yet") }

// Status describes the stream at now.
func (v *Visitor) Status(now Instant) Status { panic("not built yet") }
