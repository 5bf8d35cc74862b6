//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lock takes the file for this handle, until it is closed or the process ends
// in any way.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLocked
	case errors.Is(err, errors.ErrUnsupported): // some network file systems
		return nil
	default:
		return err
	}
}

// nodeOf identifies a file as long as it exists.
func nodeOf(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
