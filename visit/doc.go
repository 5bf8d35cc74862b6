// Package visit is the key-visitor machine: it decides what a background scan
// reads next, which visits are ready, what an epoch must store about them, and
// when a scan is over. It is pure: time, list answers, errors and signals are
// arguments, and the only results are return values. It starts no goroutine,
// reads no clock, does no IO and draws no random number, so the same calls
// always give the same answers.
//
// One [Visitor] serves one visit stream of one partition for one generation of
// its ownership. A driver uses it like this:
//
//	v := visit.New(cfg, params, stored, now)
//	between epochs:
//	    v.UpstreamCompleted(now, done)             // a level, repeated freely
//	    v.RunNow(now, command)                     // a level, too
//	    if l, ok := v.NextList(now); ok {          // peek
//	        v.AcceptList(now, l)                   // take; read l.Range elsewhere
//	    }
//	    v.Listed(now, token, answers) or v.ListFailed(now, token, err)
//	in an epoch:
//	    v.EpochOpened(now)
//	    visits = v.NextVisits(now, visits[:0], n)  // peek
//	    v.Touch(key)                               // for every key the epoch writes
//	    v.AcceptVisits(now, outcome)
//	    d := v.Delta()                             // goes into the epoch's transaction
//	    v.EpochCommitted(now)                      // once that is durable
//
// Calls whose name begins with Next only look; calls whose name begins with
// Accept take what was offered.
//
// # What holds
//
//  1. The intervals of a bucket are disjoint, sorted and cover the bucket
//     exactly; neighbours of equal state are joined (KV-9).
//  2. Only committed intervals are stored, and only in the transaction that
//     stores their visits (KV-10).
//  3. A key is never on both sides of a bound (KV-20).
//  4. A key present for a whole pass is visited in it; committed visits are
//     exactly once per pass, across restarts (KV-13, KV-16).
//  5. A pass ends when all of it is committed. The next one starts final only
//     if the upstreams had completed by then; a list that was in flight at
//     that moment does not count for a full final pass (KV-34).
//  6. An answer whose token is not the outstanding one changes nothing. The
//     token carries the generation, because a number that is unique only within
//     one Visitor would let an answer to its predecessor through.
//
// Two rules make it safe that coverage moves in memory before the transaction
// is durable, and the code asserts both: filling is serialised with epochs (no
// list is begun or answered while an epoch is open), and a failed epoch restarts
// the job (there is no way to tell a Visitor that an epoch failed: the driver
// drops it and makes a new one from what is stored).
//
// # Decisions
//
// Where the rules leave a choice, this package decides as follows.
//
//   - Within a process lag follows monotonic time; the stored start of the
//     schedule is a wall time, so that only down-time is judged by that clock.
//   - max_visits_per_second holds back what is handed out, not what is read:
//     so the rate is exact however many keys a slice turns out to hold, and the
//     buffer limit bounds how far reading runs ahead.
//   - The record of a first pass is stored within 5 s, as that of a new pass is:
//     without it restarts more frequent than a minimum slice would begin the
//     schedule anew each time.
//   - A process counts as frozen if, between two reads, nothing was heard for
//     longer than twice the allowance or the longest recent epoch, and a second.
//   - A failed slice is retried where it is; other buckets wait for it.
//   - Disabling drops what is buffered, as draining does, so that nothing old
//     holds memory or a watermark meanwhile.
//   - The completion signal is remembered while finite is false and counts once
//     it is true: upstreams that completed stay completed.
//   - An epoch of visits alone waits for less than KV-32 allows, see ReadyAt.
//   - A pass that a run-now command drops is not summed up, since it was not
//     completed. A command that comes while the stream is disabled or draining is
//     obeyed when that ends. From the signal on the final pace counts, in the
//     pass of a command as in any other.
//   - Two parts that are merged keep the earlier of their run-now commands: to
//     obey one again costs visits, to pass it over would break the promise.
//   - First ticks spread the reads of partitions that start together. Where a
//     minimum slice takes longer than a tick, the first slices are spread over
//     that time: the spread of a tick would have ended with the first tick.
//   - The bound on the age of the least recently visited key counts from the
//     previous pass until the running one is committed, not only read.
//   - Which listed names were ever found is stored with the pass record and
//     united in a merge, so that neither a restart nor a move makes a name missing
//     that was there. Rows that an epoch wrote count as found: the next pass would.
package visit
