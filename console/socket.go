package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// SocketName is the name of the socket in the data folder.
const SocketName = "control.sock"

// makingName is a folder beside the socket that exists while the socket is made.
const makingName = "control.new"

// maxSocketPath is how long the path of a socket may be on every system that has
// them: the shortest is that of macOS, 104 bytes with a zero at the end.
const maxSocketPath = 103

// Listen opens the socket of a data folder for the owner of the process alone.
// The caller holds the folder, so that a socket which is there was left by a
// process that is gone, or is the caller's own: it is replaced. Closing the listener
// removes the socket.
//
// The path of a socket may have about a hundred bytes. Where that of the data
// folder is longer, the socket is opened through a symbolic link in the folder
// for temporary files, which is removed at once: the socket itself lies in the
// data folder all the same.
func Listen(dataDir string) (*Socket, error) {
	l, err := listen(dataDir)
	if err != nil {
		return nil, fmt.Errorf("open the control socket in %s: %w", dataDir, err)
	}
	return l, nil
}

// listen makes the socket in a folder that only the owner can enter, and moves it
// to its place when its own mode is set, so that there is no moment at which
// others may connect.
func listen(dataDir string) (*Socket, error) {
	making := filepath.Join(dataDir, makingName)
	if err := os.RemoveAll(making); err != nil { // a crash may have left it
		return nil, err
	}
	if err := os.Mkdir(making, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(making)
	path := filepath.Join(making, SocketName)
	l, err := atShortPath(path, func(short string) (net.Listener, error) { return net.Listen("unix", short) })
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it has moved by then
	place := filepath.Join(dataDir, SocketName)
	info, err := os.Lstat(path)
	if err = errors.Join(err, os.Chmod(path, 0o600), os.Rename(path, place)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &Socket{Listener: l, path: place, file: info}, nil
}

// Socket is a listener that takes its file away.
type Socket struct {
	net.Listener
	path string
	file fs.FileInfo
}

// Addr is where the socket was moved to.
func (s *Socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Gone tells that somebody took the file away: nobody can connect any more.
func (s *Socket) Gone() bool {
	info, err := os.Lstat(s.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, s.file)
}

// Close removes the file first: who finds it can connect. One that has taken its
// place stays.
func (s *Socket) Close() error {
	if s.Gone() {
		return s.Listener.Close()
	}
	err := os.Remove(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.Listener.Close())
}

// atShortPath calls open with a path that leads to the same place and is short
// enough for a socket.
func atShortPath[T any](path string, open func(short string) (T, error)) (T, error) {
	if len(path) <= maxSocketPath {
		return open(path)
	}
	var none T
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return none, err
	}
	temp, err := os.MkdirTemp("", "rondo")
	if err != nil {
		return none, noLink(path, err)
	}
	defer os.RemoveAll(temp)
	link := filepath.Join(temp, "d")
	if err := os.Symlink(dir, link); err != nil {
		return none, noLink(path, err)
	}
	short := filepath.Join(link, filepath.Base(path))
	if len(short) > maxSocketPath {
		return none, fmt.Errorf("the paths %s and %s are too long for a socket: use a shorter data folder, or a shorter TMPDIR", path, short)
	}
	return open(short)
}

// noLink says that a socket cannot be reached by a short path. The error of the
// folder for temporary files is none of the socket's, and not wrapped.
func noLink(path string, err error) error {
	return fmt.Errorf("the path %s is too long for a socket, and no link to it can be made in the folder for temporary files: %v: set TMPDIR to a folder that can be written, or use a shorter data folder", path, err)
}

// dial connects to the socket of a data folder.
func dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return atShortPath(filepath.Join(dataDir, SocketName), func(short string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", short)
	})
}
