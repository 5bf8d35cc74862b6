//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"io/fs"
	"os"
)

// lock does nothing where there are no advisory locks.
func lock(*os.File) error { return nil }

// nodeOf has nothing to identify a file by.
func nodeOf(fs.FileInfo) string { return "" }
