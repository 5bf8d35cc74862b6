//go:build !invariants && !race

package visit

// invariants turns on the checks of [Visitor.check].
const invariants = false
