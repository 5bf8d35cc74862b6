//go:build invariants || race

package invariants

// Enabled says whether this build checks its assertions: it does.
const Enabled = true
