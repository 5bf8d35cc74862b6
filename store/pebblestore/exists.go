package pebblestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists tells whether a folder on the disk is a store, without opening or
// changing anything. One whose making was cut short is none yet.
func Exists(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
