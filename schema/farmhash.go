package schema

import (
	"fmt"
	"unsafe"

	"github.com/dgryski/go-farm"
)

// Constants of the reference system's hash: the seed, and FarmHash's
// multiplier for mixing 64-bit words.
const (
	farmSeed = 0xdeadc0de
	farmMul  = 0x9ddfea08eb382d69
)

// FarmHash returns farm_hash(vals...) of the reference system bit for bit.
// Integers and doubles hash by their raw 8 bytes, booleans as 0 and 1, null as
// 0, so that null, 0 and false have one hash. Structured values have none:
// they are an error.
func FarmHash(vals ...Value) (uint64, error) {
	hash := uint64(farmSeed)
	for i := range vals {
		if vals[i].kind == KindAny {
			return 0, fmt.Errorf("farm_hash of an any value is not defined: hash its parts as separate columns")
		}
		hash = farmMix(hash, &vals[i])
	}
	return hash ^ uint64(len(vals)), nil
}

func farmMix(hash uint64, v *Value) uint64 {
	return fingerprint128(hash, fingerprint(v))
}

func fingerprint(v *Value) uint64 {
	if v.kind == KindString {
		// Fingerprint64 neither keeps nor changes its argument.
		return farm.Fingerprint64(unsafe.Slice(unsafe.StringData(v.str), len(v.str)))
	}
	return mixTail(v.num * farmMul)
}

func fingerprint128(lo, hi uint64) uint64 {
	a := (lo ^ hi) * farmMul
	a ^= a >> 47
	return mixTail((hi ^ a) * farmMul)
}

func mixTail(x uint64) uint64 {
	x ^= x >> 44
	x *= farmMul
	x ^= x >> 41
	return x * farmMul
}
