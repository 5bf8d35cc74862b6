//go:build unix

package console_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/console"
)

func listen(t *testing.T, dir string) *console.Socket {
	t.Helper()
	l, err := console.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// reaches tells whether a client finds somebody behind the socket of a folder.
func reaches(t *testing.T, dir string) bool {
	t.Helper()
	c := console.NewClient(dir)
	defer c.Close()
	served, err := c.Served(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// The path of a data folder may be longer than that of a socket may.
func TestASocketLiesInItsDataFolderHoweverLongThePath(t *testing.T) {
	for _, length := range []int{0, 60, 103, 104, 150, 250, 1000} {
		dir := t.TempDir()
		for len(dir) < length {
			dir = filepath.Join(dir, strings.Repeat("d", min(200, max(1, length-len(dir)-1))))
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		l := listen(t, dir)
		info, err := os.Lstat(filepath.Join(dir, console.SocketName))
		if err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Fatalf("a path of %d bytes: %v, %v", len(dir), info, err)
		}
		if !reaches(t, dir) {
			t.Errorf("a path of %d bytes: nobody is found behind the socket", len(dir))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("a path of %d bytes: Close leaves %v, %v", len(dir), left, err)
		}
		if reaches(t, dir) {
			t.Errorf("a path of %d bytes: somebody is found after Close", len(dir))
		}
	}
}

func TestNothingIsLeftInTheFolderForTemporaryFiles(t *testing.T) {
	temp, dir := t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	t.Setenv("TMPDIR", temp)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	listen(t, dir)
	reaches(t, dir)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// A process that died left its socket, and may have left one half made.
func TestWhatADeadProcessLeftIsReplaced(t *testing.T) {
	dir := t.TempDir()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, console.SocketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "control.new", "control.sock"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := console.NewClient(dir)
	if _, err := c.Status(t.Context()); !errors.Is(err, console.ErrNotServed) || !strings.Contains(err.Error(), "is gone; start the pipeline again with rondo run") {
		t.Errorf("the socket of a dead process: %v", err)
	}
	listen(t, dir)
	if !reaches(t, dir) {
		t.Error("nobody is found behind the new socket")
	}
}

func TestTheSocketIsMadeOverNothingElse(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, console.SocketName, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if l, err := console.Listen(dir); err == nil {
		l.Close()
		t.Error("a folder in the socket's place was replaced")
	}
	if _, err := console.Listen(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a socket was made in a folder that is not there")
	}
}

// Whoever removes the socket of a pipeline takes nobody else's when it is put back.
func TestASocketThatWasRemovedIsGoneAndLeavesTheNextOneAlone(t *testing.T) {
	dir := t.TempDir()
	first := listen(t, dir)
	if first.Gone() {
		t.Error("a socket that is there counts as gone")
	}
	if err := os.Remove(filepath.Join(dir, console.SocketName)); err != nil {
		t.Fatal(err)
	}
	if !first.Gone() {
		t.Error("a socket that was removed counts as there")
	}
	second := listen(t, dir)
	if !first.Gone() || second.Gone() {
		t.Error("the former socket counts as there, or the new one as gone")
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if second.Gone() || !reaches(t, dir) {
		t.Error("closing the former socket took the new one away")
	}
}
