package flow

import (
	"math"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// CBOR is the codec of all Go values that RFC 8949 can express: numbers,
// strings, booleans, slices, maps, and structs by their exported fields (named
// with `cbor:"name"` tags; fields that are added later are zero in values
// stored before). The encoding is deterministic, so equal values are equal
// bytes. Strings keep any bytes; times keep their nanoseconds and become UTC.
func CBOR[T any]() Codec[T] { return cborCodec[T]{} }

type cborCodec[T any] struct{}

func (cborCodec[T]) Encode(v T) ([]byte, error) { return cborModes().enc.Marshal(v) }

func (cborCodec[T]) Decode(b []byte) (T, error) {
	var v T
	err := cborModes().dec.Unmarshal(b, &v)
	return v, err
}

type modes struct {
	enc cbor.EncMode
	dec cbor.DecMode
}

// cborModes are the settings of states. Everything that Encode accepts must
// come back from Decode: a state that cannot be read again stops its partition
// for good. So the limits that guard the decoder against strangers are lifted
// (its input is what we wrote), and text may be any bytes.
var cborModes = sync.OnceValue(func() modes {
	enc := cbor.CoreDetEncOptions()
	enc.NaNConvert = cbor.NaNConvertPreserveSignal
	enc.Time, enc.TimeTag = cbor.TimeRFC3339NanoUTC, cbor.EncTagRequired
	dec := cbor.DecOptions{
		UTF8:             cbor.UTF8DecodeInvalid,
		MaxArrayElements: math.MaxInt32,
		MaxMapPairs:      math.MaxInt32,
		MaxNestedLevels:  65535,
	}
	return modes{must(enc.EncMode()), must(dec.DecMode())}
})

// must is for settings that are constants: they are valid or no test passes.
func must[M any](mode M, err error) M {
	if err != nil {
		panic(err)
	}
	return mode
}
