package flow

import (
	"bytes"
	"errors"
	"fmt"
)

// Codec turns the values of a state into the bytes that are stored and back.
// Three things are expected of it:
//
//   - Decode(Encode(v)) equals v. What is remembered within an epoch and what
//     comes out of the store in the next one must not differ.
//   - Encode never returns nothing, which would be the absence of the state. A
//     codec for which some value is no bytes at all is wrapped with Prefixed.
//   - The result of Encode shares no memory with v, and that of Decode none
//     with b: both live on.
//
// A codec is used by many goroutines at once.
type Codec[T any] interface {
	Encode(v T) ([]byte, error)
	Decode(b []byte) (T, error)
}

// Raw is the codec of states that are bytes already. Setting no bytes is an
// error, since that is not a value; use Clear, or Prefixed(Raw()) where empty
// and absent are different things.
func Raw() Codec[[]byte] { return raw{} }

type raw struct{}

func (raw) Encode(v []byte) ([]byte, error) { return bytes.Clone(v), nil }
func (raw) Decode(b []byte) ([]byte, error) { return bytes.Clone(b), nil }

// prefix is what Prefixed puts before each value.
const prefix = 1

// Prefixed puts one byte before what c encodes, so that a value whose encoding
// is empty can be told from the absence of the state.
func Prefixed[T any](c Codec[T]) Codec[T] { return prefixed[T]{c} }

type prefixed[T any] struct{ inner Codec[T] }

func (p prefixed[T]) Encode(v T) ([]byte, error) {
	b, err := p.inner.Encode(v)
	if err != nil {
		return nil, err
	}
	return append([]byte{prefix}, b...), nil
}

func (p prefixed[T]) Decode(b []byte) (T, error) {
	var none T
	if len(b) == 0 {
		return none, errors.New("no bytes, want at least the prefix")
	}
	if b[0] != prefix {
		return none, fmt.Errorf("begins with byte %#02x, want %#02x: it was not written with a prefix", b[0], prefix)
	}
	return p.inner.Decode(b[1:])
}
