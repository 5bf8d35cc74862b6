package pebblestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

const ownerFile = "rondo.owner"

// Owner says who holds a folder.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started,omitzero"`
	// Passing: it lets the folder go by itself in a moment, so others can wait for
	// it.
	Passing bool `json:"passing,omitempty"`
}

// thisProcess is the owner that this process is.
func thisProcess(started time.Time) Owner {
	host, _ := os.Hostname() // a folder without host name is still held
	return Owner{PID: os.Getpid(), Host: host, Started: started}
}

// String is process, machine and time, as far as they are known.
func (o Owner) String() string {
	if o.PID == 0 {
		return "a process that has not given its name yet"
	}
	s := fmt.Sprintf("process %d on %s", o.PID, o.Host)
	if !o.Started.IsZero() {
		s += ", started " + o.Started.Format(time.RFC3339)
	}
	return s
}

// HeldError is ErrLocked with who holds the folder.
type HeldError struct {
	Dir string
	// Owner has not given its name yet if its PID is 0.
	Owner Owner
}

// Error names the folder and its owner, and says what to do.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: data folder %s is held by %s; stop it, or use another folder", store.ErrLocked, e.Dir, e.Owner)
}

// Unwrap makes it ErrLocked.
func (e *HeldError) Unwrap() error { return store.ErrLocked }

// lockFolder locks dir for an owner, which is this process, and puts its name
// there. The system gives the lock back when the process dies, whatever the files
// say.
func lockFolder(dir string, on vfs.FS, o Owner) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(dir, on)
	if err != nil {
		return nil, lockError(dir, on, err)
	}
	text, err := json.Marshal(o)
	if err == nil {
		err = writeFile(on, dir, ownerFile, text)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // which has to be cleared up by somebody
		return nil, errors.Join(fmt.Errorf("%w: cannot write in data folder %s: %w", store.ErrUnavailable, dir, err), lock.Close())
	}
	return lock, nil
}

// isHeld tells a lock that somebody has from one that cannot be had. The system
// says EAGAIN or EACCES of the former, for other processes; a holder in this
// process is told without an error number.
func isHeld(err error) bool {
	var path *fs.PathError // the lock's file could not be made
	var number syscall.Errno
	if errors.As(err, &path) {
		return false
	}
	return !errors.As(err, &number) || number == syscall.EAGAIN || number == syscall.EACCES
}

// lockError names the holder of a folder in use.
func lockError(dir string, on vfs.FS, err error) error {
	if !isHeld(err) {
		return fmt.Errorf("%w: cannot lock data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	held := &HeldError{Dir: dir}
	if text, err := readFile(on, dir, ownerFile); err == nil && json.Unmarshal(text, &held.Owner) != nil {
		held.Owner = Owner{} // it is being written
	}
	return held
}

// unlockFolder takes the name away before the lock.
func unlockFolder(dir string, on vfs.FS, lock *pebble.Lock) error {
	_ = on.Remove(on.PathJoin(dir, ownerFile)) // a name without lock blocks nobody
	return lock.Close()
}

func readFile(on vfs.FS, dir, name string) ([]byte, error) {
	f, err := on.Open(on.PathJoin(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// writeFile puts a whole file in its place, durably.
func writeFile(on vfs.FS, dir, name string, text []byte) error {
	temp := on.PathJoin(dir, name+".new")
	f, err := on.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := on.Rename(temp, on.PathJoin(dir, name)); err != nil {
		return err
	}
	folder, err := on.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
