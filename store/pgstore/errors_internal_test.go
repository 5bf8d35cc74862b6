package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

func TestSQLSTATEsHaveTheClassThatSaysWhatToDo(t *testing.T) {
	for code, class := range map[string]error{
		"RO001": store.ErrFenced,
		"RO002": store.ErrConflict,
		"RO003": store.ErrNoQueue,
		"RO004": nil,
		"40001": store.ErrUnavailable, // serialization failure
		"40P01": store.ErrUnavailable, // deadlock
		"55P03": store.ErrUnavailable, // lock not available
		"57014": store.ErrUnavailable, // cancelled, or out of time
		"53100": store.ErrUnavailable, // disk full
		"53300": store.ErrUnavailable, // too many connections
		"57P01": store.ErrUnavailable, // shut down
		"57P03": store.ErrUnavailable, // starting up
		"58030": store.ErrUnavailable, // input or output error
		"28P01": store.ErrUnavailable, // wrong password
		"3D000": store.ErrUnavailable, // no such database
		"42501": store.ErrUnavailable, // no right
		"25006": store.ErrUnavailable, // read-only server
		"XX001": store.ErrCorrupt,     // damaged data
		"XX002": store.ErrCorrupt,     // damaged index
		"42P01": store.ErrCorrupt,     // no such table
		"42883": store.ErrCorrupt,     // no such function
		"54000": nil,                  // a key that no index can hold
		"23505": nil,                  // a row written twice
	} {
		pg := &pgconn.PgError{Code: code, Severity: "ERROR", Message: "said"}
		for _, err := range []error{classify(fmt.Errorf("while it worked: %w", pg)), classifyChange(pg)} {
			if err == nil || hasClass(err) != (class != nil) || class != nil && !errors.Is(err, class) {
				t.Errorf("%s: got %v, want class %v", code, err, class)
			}
		}
	}
}

// What a server says when nobody is let in stays so, whatever else keeps it from working
// may be over soon; a wrong password is one of the former.
func TestWhoIsNotLetInDoesNotComeBack(t *testing.T) {
	for code, want := range map[string]bool{
		"28P01": false, "3D000": false, "42501": false, "42P01": false, "XX001": false,
		"57P03": true, "57P01": true, "53300": true, "08006": true, "25006": true,
	} {
		err := fmt.Errorf("open: %w", classify(&pgconn.PgError{Code: code, Severity: "FATAL", Message: "said"}))
		if ComesBack(err) != want {
			t.Errorf("%v: comes back %t, want %t", err, !want, want)
		}
	}
}

// A server may speak any language: what it says of an error's gravity is translated,
// and said once more as it is.
func TestTheLanguageOfTheServerChangesNoClass(t *testing.T) {
	undone := &pgconn.PgError{Code: stateFenced, Severity: "FEHLER", SeverityUnlocalized: "ERROR", Message: "überholt"}
	if got := classifyChange(undone); !errors.Is(got, store.ErrFenced) {
		t.Errorf("an error: got %v, want %v", got, store.ErrFenced)
	}
	gone := &pgconn.PgError{Code: "57P01", Severity: "SCHWERWIEGEND", SeverityUnlocalized: "FATAL", Message: "breche ab"}
	if got := classifyChange(gone); !errors.Is(got, store.ErrUnknownOutcome) {
		t.Errorf("the end of a session: got %v, want %v", got, store.ErrUnknownOutcome)
	}
}

// A session that ends, for want of room on the server's disk, tells of no damage.
func TestAnInternalErrorThatEndsTheSessionMayPass(t *testing.T) {
	for severity, class := range map[string]error{"ERROR": store.ErrCorrupt, "FATAL": store.ErrUnavailable, "PANIC": store.ErrUnavailable} {
		err := classify(&pgconn.PgError{Code: "XX000", Severity: severity, Message: "could not write init file"})
		if !errors.Is(err, class) {
			t.Errorf("%s: got %v, want %v", severity, err, class)
		}
	}
}

// D-3: only an answer that says that all was undone is believed.
func TestAChangeThatWasNotAnsweredHasAnUnknownOutcome(t *testing.T) {
	for _, err := range []error{
		io.ErrUnexpectedEOF,
		context.DeadlineExceeded,
		&pgconn.PgError{Code: "57P01", Severity: "FATAL", Message: "terminating connection due to administrator command"},
		&pgconn.PgError{Code: "57P02", Severity: "FATAL", Message: "crash of another server process"},
		&pgconn.PgError{Code: "XX000", Severity: "PANIC", Message: "could not write"},
	} {
		if got := classifyChange(err); !errors.Is(got, store.ErrUnknownOutcome) {
			t.Errorf("%v: got %v, want %v", err, got, store.ErrUnknownOutcome)
		}
		if got := classify(err); errors.Is(got, store.ErrUnknownOutcome) {
			t.Errorf("%v of a read: got %v", err, got)
		}
	}
}

func TestErrorsOfTheCallerAndThoseWithAClassStayAsTheyAre(t *testing.T) {
	own := errors.New("the plan does not want to")
	if got := classify(&callersError{own}); got != own {
		t.Errorf("got %v", got)
	}
	fenced := fmt.Errorf("there is no partition 7: %w", store.ErrFenced)
	if classify(fenced) != fenced || classifyChange(fenced) != fenced || classify(nil) != nil || classifyChange(nil) != nil {
		t.Error("an error with a class was changed")
	}
}
