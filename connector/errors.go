package connector

import "errors"

// ErrMalformed marks input that is wrong in itself: reading it again gives the
// same error, so the pipeline stops instead of trying for ever.
var ErrMalformed = errors.New("malformed input")
