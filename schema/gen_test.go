package schema

import (
	"math"

	"pgregory.net/rapid"
)

// genString favours what codecs stumble over: empty strings, 0x00 and 0xFF
// bytes, prefixes of each other, long runs.
func genString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0x00, 0x01, 0xFF, 'a', 'b'}), 0, 6), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
		rapid.String(),
	)
}

func genDouble() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1),
			math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64}),
		rapid.Map(rapid.Uint64(), math.Float64frombits),
	)
}

func genValue() *rapid.Generator[Value] {
	return rapid.OneOf(
		rapid.Just(Null()),
		rapid.Map(rapid.Int64(), Int64),
		rapid.Map(rapid.Uint64(), Uint64),
		rapid.Map(genDouble(), Double),
		rapid.Map(rapid.Bool(), Boolean),
		rapid.Map(genString(), String),
		rapid.Map(genString(), Any),
	)
}

func genRow() *rapid.Generator[Row] {
	return rapid.Map(rapid.SliceOfN(genValue(), 0, 6), func(vs []Value) Row { return Row(vs) })
}
