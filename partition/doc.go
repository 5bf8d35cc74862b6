// Package partition is the machine of one partition: it admits messages and
// visits, decides what an epoch takes and when it is cut, and says what must be
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
//	Ready.Commit      -> Committed
//
// Reads may run beside an epoch. An epoch and its commit run one after the
// other: between Ready.Epoch and Committed no other epoch is given out, and
// list answers wait inside the machine, so that filling is serialised with
// epochs (KV-22).
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
