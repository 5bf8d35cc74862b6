package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// record is what a joiner keeps in the data folder: how many rows the table had
// when a pass was completed last, and which version somebody accepted. Each has a
// file and one writer, the pipeline and the command.
type record struct{ dir string } // "" keeps nothing

// recordOf returns the record of a joiner of a pipeline with that data folder.
func recordOf(dataDir, computation, name string) record {
	if dataDir == "" {
		return record{}
	}
	return record{filepath.Join(dataDir, recordsDir, url.PathEscape(computation), url.PathEscape(name))}
}

// Forget removes what the joiners of a pipeline keep in its data folder.
func Forget(dataDir string) error { return os.RemoveAll(filepath.Join(dataDir, recordsDir)) }

// CopyRecords copies what the joiners of a pipeline keep from its data folder to
// another one, which has nothing of it; the pipeline may run meanwhile. Where the
// state is copied too, that comes after: then what is kept is never of a pass that
// the copy does not have, as if the pipeline had been killed before it was kept.
func CopyRecords(dataDir, to string) error {
	from := filepath.Join(dataDir, recordsDir)
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if path == from && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.Name() != passFile && e.Name() != acceptFile {
			return err // folders come with their files, and what else there is, is being written
		}
		rel, err := filepath.Rel(dataDir, filepath.Dir(path))
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return record{filepath.Join(to, rel)}.write(e.Name(), data)
	})
}

const recordsDir = "external"

type lastPass struct {
	Rows int64 `json:"rows"`
}

const (
	passFile   = "pass.json"
	acceptFile = "accepted"
	doubtFile  = "doubted"
)

// rows returns -1 if no pass has been completed.
func (r record) rows() (int64, error) {
	if r.dir == "" {
		return -1, nil
	}
	path := filepath.Join(r.dir, passFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	var l lastPass
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil {
		return 0, fmt.Errorf("%s, which says how long the table was, cannot be read: %w: repair or delete it", path, err)
	}
	return l.Rows, nil
}

func (r record) setRows(rows int64) error {
	data, err := json.Marshal(lastPass{rows})
	if err != nil || r.dir == "" {
		return err
	}
	return r.write(passFile, append(data, '\n'))
}

// accepted returns the version that somebody accepted, "" for none.
func (r record) accepted() string {
	if r.dir == "" {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(r.dir, acceptFile))
	if err != nil {
		return "" // not accepted, then
	}
	return string(data)
}

func (r record) accept(version string) error { return r.write(acceptFile, []byte(version)) }

// doubt notes a version of a table in the store that is not believed.
func (r record) doubt(version string) error {
	if r.dir == "" {
		return nil
	}
	return r.write(doubtFile, []byte(version))
}

// doubted returns the version that was noted last.
func (r record) doubted() (string, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, doubtFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no pipeline has found it too short: there is nothing to accept")
	}
	return string(data), err
}

// write replaces a file as a whole.
func (r record) write(name string, data []byte) error {
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	return replaceFile(filepath.Join(r.dir, name), data)
}

// replaceFile writes a file that is there as a whole or as it was.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Chmod(0o644), f.Close())
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
