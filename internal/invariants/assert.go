package invariants

// Assert panics with msg when cond is false and assertions are on. msg names
// the package and the broken invariant. Guard arguments that are costly to
// compute with Enabled: they are evaluated in every build.
func Assert(cond bool, msg string) {
	if Enabled && !cond {
		panic("invariant broken: " + msg)
	}
}
