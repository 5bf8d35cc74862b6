// Package partition is the machine of one partition: it admits messages, timers
// and visits, decides what an epoch takes and when it is cut, and says what must be
// durable before what. It is pure: answers, errors and time come in as events,
// and out goes one Ready value.
//
// # The cycle
//
// The driver owns the machine and one goroutine. It calls Step for everything
// that happened, then Ready, does what Ready says, tells the machine with
// Accept that it began, and reports the results as events:
//
//	Ready.ReadInbox   -> InboxRead          Ready.Lists  -> Listed, ListFailed
//	Ready.ReadSource  -> SourceRead         Ready.Epoch  -> Processed
//	Ready.Commit      -> Committed          Ready.ReadTimers, SurveyTimers
//	                                          -> TimersRead, TimersSurveyed
//
// Reads may run beside an epoch. An epoch and its commit run one after the
// other: between Ready.Epoch and Committed no other epoch is given out, and
// list answers wait inside the machine, so that filling is serialised with
// epochs (KV-22).
//
// # Timers
//
// Of each timer stream the machine holds a window: all timers up to some place,
// read from the store in order and kept up by what epochs set and remove (D-14).
// A read is serialised with epochs, so that no commit falls between its snapshot
// and its answer; that is why nothing else is begun before the first one.
//
// Some decisions. Timers of an epoch come in order of trigger over all streams,
// each of which has its part of the epoch's rows. System time is the wall clock, and
// is over once the streams that count are completed, so that a pipeline with an end
// comes to it; real time is the clock alone. Neither goes back in a job when the
// clock does. A timer that is set holds outputs that depend on its stream at its
// event timestamp; what lies beyond the window counts with a lower bound, which a
// survey of the store brings up to date when it is what holds an output back. A
// visit stream waits for the timers that were due when its upstreams completed, and
// once told to begin its final pass it is not held up by later ones (KV-33).
//
// # Failure
//
// There is no event for a failed epoch. When an epoch, or its commit, fails or
// has an unknown outcome, the driver drops the machine and starts a new job from
// what is stored (D-1, D-3). That is why marking in memory before the commit is
// safe.
//
// # What the machine never does
//
// It never waits, reads a clock, or draws a random number; the same events give
// the same output.
package partition
