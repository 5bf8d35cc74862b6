package pgstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

// ComesBack tells errors of Open that may be gone a moment later: of a server that is
// not started yet, starts, stops, cannot be reached or has no connection left. A URL, a
// user, a password or a database that is wrong stays so.
func ComesBack(err error) bool {
	var pg *pgconn.PgError
	var no noEntry
	var dns *net.DNSError
	switch {
	case !errors.Is(err, store.ErrUnavailable) || errors.As(err, &no):
		return false
	case errors.As(err, &pg):
		return true
	case errors.As(err, &dns):
		return dns.IsTemporary || dns.IsTimeout
	}
	return slices.ContainsFunc([]error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT,
		fs.ErrNotExist, // the socket of a server on this machine
		io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, os.ErrDeadlineExceeded,
	}, func(e error) bool { return errors.Is(err, e) })
}
