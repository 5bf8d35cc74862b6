package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Recorded is what a stored position of a sink says of a file. What the file has
// beyond that is no output: a writer that died, or that others took for dead, left
// it.
type Recorded struct {
	// Path is as in the spec; that of a part has its name in it. Host and Folder
	// are the machine and the data folder of a part, and empty otherwise.
	Path, Host, Folder string
	Bytes, Rows        int64

	mark mark
}

// ReadRecorded reads a stored position.
func ReadRecorded(position []byte) (*Recorded, error) {
	m, err := decodeMark(position)
	if err != nil {
		return nil, err
	}
	return &Recorded{m.Path, m.Host, m.Folder, m.Position, m.Line, m}, nil
}

// In is where the file is if its data folder is there.
func (r *Recorded) In(folder string) string {
	if filepath.IsAbs(r.Path) {
		return r.Path
	}
	return filepath.Join(folder, r.Path)
}

// Copy writes what is recorded, and fails after that if the file has anything else
// in its place. It may be read while it is written. Without header, what a CSV file
// has before its first row is left out.
func (r *Recorded) Copy(w io.Writer, folder string, header bool) error {
	path := r.In(folder)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s, which host %s wrote in its folder %s: copy it here, or name the folder that has it: %w", path, r.Host, r.Folder, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.copy(w, f, header); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r *Recorded) copy(w io.Writer, f io.Reader, header bool) error {
	skip := r.mark.Header
	if header {
		skip = 0
	}
	var is checksum
	for b := make([]byte, 1<<20); is.Length < r.Bytes; {
		n, err := io.ReadFull(f, b[:min(int64(len(b)), r.Bytes-is.Length)])
		if err != nil {
			return fmt.Errorf("%w: it has less than the %d bytes that are recorded: %w", errShort, r.Bytes, err)
		}
		rest := b[min(int64(n), max(skip-is.Length, 0)):n]
		is = is.and(b[:n])
		if _, err := w.Write(rest); err != nil {
			return err
		}
	}
	if is != r.mark.Whole {
		return errOther
	}
	return nil
}
