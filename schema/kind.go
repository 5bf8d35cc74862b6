package schema

// Kind is the physical kind of a [Value]. The order of the constants is the
// order of values of different kinds.
type Kind uint8

// The kinds, in their sort order.
const (
	KindNull Kind = iota
	KindInt64
	KindUint64
	KindDouble
	KindBoolean
	KindString
	KindAny

	kindCount
)

var kindNames = [kindCount]string{"null", "int64", "uint64", "double", "boolean", "string", "any"}

// String returns the lower-case name of the kind.
func (k Kind) String() string {
	if k >= kindCount {
		return "unknown"
	}
	return kindNames[k]
}
