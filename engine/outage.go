package engine

import (
	"errors"
	"log/slog"

	"github.com/rondo-flow/rondo/store"
)

// outage is how one who asks the store again and again tells of it: once that it does
// not answer, and once that it does again. It has one owner.
type outage struct{ down bool }

// tell takes how asking went; what says what cannot be done meanwhile.
func (o *outage) tell(log *slog.Logger, what string, err error) {
	switch {
	case err != nil && !o.down:
		log.Warn(what+", trying again and again", "error", err)
	case err == nil && o.down:
		log.Info("the store answers again, after: " + what)
	}
	o.down = err != nil
}

// unanswered tells errors of a store that does not answer for a while.
func unanswered(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknownOutcome)
}
