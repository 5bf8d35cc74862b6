package external

import (
	"fmt"
	"io/fs"
	"syscall"
)

// nodeOf returns what tells a file from another in its file system. The time of
// change is part of it: no program can set that back.
func nodeOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d.%09d", s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}
