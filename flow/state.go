package flow

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// State is one named state that every key of a computation has or has not,
// with Go values of type T. Make it once, in the function's factory, and Open
// it for the key of each input:
//
//	counts := flow.NewState("/count", flow.CBOR[int64]())
//
// All inputs of a key in an epoch see what the former ones set (KV-29), and it
// is stored once, when the epoch ends.
type State[T any] struct {
	name     string
	codec    Codec[T]
	encode   func(any) ([]byte, error)
	remember bool
	err      error
}

// NewState describes the state with the given name, which begins with a slash.
// A nil codec is CBOR.
func NewState[T any](name string, codec Codec[T]) *State[T] {
	if codec == nil {
		codec = CBOR[T]()
	}
	s := &State[T]{name: name, codec: codec, err: checkStateName(name)}
	s.remember = selfContained(reflect.TypeFor[T]())
	s.encode = func(v any) ([]byte, error) { return s.bytes(v.(T)) }
	return s
}

func checkStateName(name string) error {
	if !strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//") {
		return fmt.Errorf("state name %q: want a name such as /count, with a slash before each part", name)
	}
	return nil
}

// Name returns the state's name.
func (s *State[T]) Name() string { return s.name }

// Open returns the state of the input's key. The handle is for the call in
// which it was opened. What is wrong with it comes out of Get and Set.
func (s *State[T]) Open(rt Runtime, of Keyed) Handle[T] {
	if s.err != nil {
		return Handle[T]{state: s, err: s.err}
	}
	cell, err := rt.Cell(s.name, KeyOf(of))
	if err != nil {
		err = fmt.Errorf("state %s: %w", s.name, err)
	}
	return Handle[T]{state: s, cell: cell, err: err}
}

// bytes encodes v and refuses to turn a value into the absence of one.
func (s *State[T]) bytes(v T) ([]byte, error) {
	b, err := s.codec.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("state %s: encode a %T: %w", s.name, v, err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("state %s: %w", s.name, errNothing)
	}
	return b, nil
}

var errNothing = errors.New("the value has no bytes, which is the absence of a state: " +
	"use Clear to remove it, or wrap the codec with flow.Prefixed")

// Handle is the state of one key during one call.
type Handle[T any] struct {
	state *State[T]
	cell  *Cell
	err   error
}

// Get returns the present value, and false when there is none. The value is
// the caller's own: changing what it refers to changes nothing until Set.
func (h Handle[T]) Get() (T, bool, error) {
	var none T
	if h.err != nil {
		return none, false, h.err
	}
	if h.state.remember {
		if v, ok := h.cell.Value().(T); ok {
			return v, true, nil
		}
	}
	b, err := h.cell.Bytes()
	if err != nil || len(b) == 0 {
		return none, false, err
	}
	v, err := h.state.codec.Decode(b)
	if err != nil {
		return none, false, fmt.Errorf("state %s: decode a %T: %w", h.state.name, none, err)
	}
	if h.state.remember {
		h.cell.Remember(v)
	}
	return v, true, nil
}

// Set replaces the value. What v refers to may be changed afterwards without
// any effect on the state.
func (h Handle[T]) Set(v T) error {
	if h.err != nil {
		return h.err
	}
	if h.state.remember {
		h.cell.SetValue(v, h.state.encode)
		return nil
	}
	b, err := h.state.bytes(v)
	if err == nil {
		h.cell.SetBytes(b)
	}
	return err
}

// Clear removes the state of this key.
func (h Handle[T]) Clear() error {
	if h.err == nil {
		h.cell.SetBytes(nil)
	}
	return h.err
}
