// Package invariants switches the assertions that stay in the code.
//
// A build with `-tags invariants` or `-race` checks them; every other build
// sees a constant false, so that the compiler drops both the check and the
// work done for it:
//
//	if invariants.Enabled {
//		invariants.Assert(sortedAndDisjoint(c.intervals), "coverage: intervals overlap")
//	}
//
// An assertion is for what only a defect in Rondo can break. Bad input, a
// failing disk or a stale answer are errors, never assertions. The package
// imports nothing, so that the pure packages may use it.
package invariants
