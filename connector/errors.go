package connector

import "errors"

// ErrMalformed marks what is wrong in itself: input that cannot be a row, a file
// that is not the one which was read or written before. Trying again gives the
// same error, so the pipeline stops instead of trying for ever. Errors of the
// machine, such as a disk that cannot be read, are not marked: they may pass.
var ErrMalformed = errors.New("malformed input")

// Malformed returns an error that says what err says and is [ErrMalformed] too.
func Malformed(err error) error { return &malformed{err} }

type malformed struct{ err error }

func (e *malformed) Error() string        { return e.err.Error() }
func (e *malformed) Unwrap() error        { return e.err }
func (e *malformed) Is(target error) bool { return target == ErrMalformed }
