package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrOutside says that a sink's file lies outside the data folder, so that a copy
// of the folder does not hold it.
var ErrOutside = errors.New("the file lies outside the data folder")

// CopyWritten copies what a sink had written when a position was stored from its
// data folder to another one, durably, and returns the path of the file. The sink
// may be writing: what it has written is never changed. A sink that goes on at the
// position in the other folder goes on where this one was. It is ErrOutside if the
// spec gives the file an absolute path or one that leaves the folder, and another
// error if what is there is not what the sink wrote.
func CopyWritten(ctx context.Context, dataDir string, position []byte, to string) (path string, err error) {
	m, err := decodeMark(position)
	if err != nil {
		return "", err
	}
	from := &sink{name: m.Path, dir: dataDir, disk: osDisk{}}
	switch {
	case !filepath.IsLocal(m.Path):
		return from.path(), ErrOutside
	case m.Position == 0:
		return from.path(), nil // the sink makes the file
	}
	if err := copyTo(ctx, from.path(), m, &sink{name: m.Path, dir: to, disk: osDisk{}}); err != nil {
		return from.path(), fmt.Errorf("copy %s: %w", from.path(), err)
	}
	return from.path(), nil
}

func copyTo(ctx context.Context, path string, m mark, to *sink) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.create()
	if err != nil {
		return err
	}
	err = copyPart(ctx, out, in, m.Position)
	if err == nil {
		err = m.checkWhole(out)
	}
	if errors.Is(err, errOther) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it is not what the sink wrote: put the file back as it was")
	}
	if err == nil {
		err = errors.Join(out.Sync(), to.syncFolders())
	}
	return errors.Join(err, out.Close())
}

// copyPart copies the first bytes of a file, and stops when ctx ends.
func copyPart(ctx context.Context, out io.WriterAt, in io.ReaderAt, length int64) error {
	b := make([]byte, 1<<20)
	for at := int64(0); at < length; at += int64(len(b)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b = b[:min(int64(len(b)), length-at)]
		if n, err := in.ReadAt(b, at); n < len(b) {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if _, err := out.WriteAt(b, at); err != nil {
			return err
		}
	}
	return nil
}
