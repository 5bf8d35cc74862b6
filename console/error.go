package console

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// Error is why a request failed. Nothing was changed.
type Error struct {
	// Message says what is wrong and what to do.
	Message string `json:"error"`
	// Path names the parameter that is wrong and Range what it may be; they are
	// empty where no parameter is the cause.
	Path  string `json:"path"`
	Range string `json:"range"`
	// Status is the HTTP status.
	Status int `json:"-"`
}

// Error says what is wrong and what to do.
func (e *Error) Error() string { return e.Message }

// Wrong says that the request itself is at fault: a parameter that does not
// exist, has the wrong type or is out of range.
func (e *Error) Wrong() bool { return e.Status == http.StatusBadRequest }

// Ended tells that a client's error means that the pipeline has ended, or is about
// to, and has not done what it was asked.
func Ended(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusServiceUnavailable || errors.Is(err, ErrNotServed)
}

func failf(status int, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Status: status}
}

// ErrorOf turns an error of the pipeline into an answer. What a pipeline refuses
// for its present state is a conflict.
func ErrorOf(err error) *Error {
	own, problems := (*Error)(nil), yson.Problems(nil)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &problems):
		return refused(problems)
	case errors.Is(err, engine.ErrTableRefused), errors.Is(err, engine.ErrRowRefused):
		return failf(http.StatusBadRequest, "%v", err)
	case errors.Is(err, engine.ErrNotRunning):
		return failf(http.StatusServiceUnavailable, "%v", err)
	case errors.Is(err, store.ErrUnavailable):
		return failf(http.StatusBadGateway, "%v", err)
	case errors.Is(err, store.ErrCorrupt):
		return failf(http.StatusInternalServerError, "%v", err)
	default:
		return failf(http.StatusConflict, "%v", err)
	}
}

// refused is the answer to parameters with problems. Path and range are those of
// the first one, the message tells all.
func refused(problems yson.Problems) *Error {
	e := &Error{Path: problems[0].Path, Range: problems[0].Allowed, Status: http.StatusBadRequest}
	var lines []string
	for _, p := range problems {
		p.Line, p.Column = 0, 0
		lines = append(lines, p.Error())
	}
	e.Message = strings.Join(lines, "\n")
	return e
}
