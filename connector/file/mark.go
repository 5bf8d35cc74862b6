package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/rondo-flow/rondo/connector"
)

// mark is a place in a file, with enough to recognise the file by: what offsets
// of the source and positions of the sink store. It is JSON, for people.
type mark struct {
	Version  int   `json:"version"`
	Position int64 `json:"position"`
	// Line is the number of lines before Position.
	Line int64 `json:"line"`
	// Head is the beginning of the file, Tail what lies before Position.
	Head checksum `json:"head"`
	Tail checksum `json:"tail"`
	// Whole is the sink's, of all bytes before Position.
	Whole checksum `json:"whole,omitzero"`
	// Path and Node are the sink's: the path in the spec, and the file's
	// identity in its file system, which tells apart files without content.
	Path string `json:"path,omitempty"`
	Node string `json:"node,omitempty"`
	// Part, Host and Folder are a part's: its name, and the machine and the data
	// folder that it lies on. Header is how many of its bytes come before the
	// first row.
	Part   string `json:"part,omitempty"`
	Host   string `json:"host,omitempty"`
	Folder string `json:"folder,omitempty"`
	Header int64  `json:"header,omitempty"`
}

// checksum is the CRC-32C of some bytes.
type checksum struct {
	Length int64  `json:"length"`
	CRC    uint32 `json:"crc32c"`
}

const markVersion = 1

func sum(b []byte) checksum { return checksum{}.and(b) }

// and returns the checksum of what c is of, and b behind it.
func (c checksum) and(b []byte) checksum {
	return checksum{c.Length + int64(len(b)), crc32.Update(c.CRC, crc32.MakeTable(crc32.Castagnoli), b)}
}

func (m mark) encode() []byte {
	m.Version = markVersion
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // numbers and strings
	}
	return b
}

// decodeMark reads what encode wrote. Its errors are [connector.ErrMalformed].
func decodeMark(b []byte) (mark, error) {
	var m mark
	if err := json.Unmarshal(b, &m); err != nil {
		return mark{}, connector.Malformed(fmt.Errorf("stored position %.200q cannot be read: %w", b, err))
	}
	if err := m.validate(b); err != nil {
		return mark{}, connector.Malformed(err)
	}
	return m, nil
}

func (m mark) validate(text []byte) error {
	switch {
	case m.Version > markVersion:
		return fmt.Errorf("stored position is of version %d, this program reads up to %d: use a newer one", m.Version, markVersion)
	case m.Version < 1 || m.Position < 0 || m.Line < 0 || !m.Head.within(m.Position) || !m.Tail.within(m.Position):
		return fmt.Errorf("stored position %.200q makes no sense", text)
	default:
		return nil
	}
}

// within bounds the length by what a file has, and by what is worth reading.
func (c checksum) within(position int64) bool {
	return c.Length >= 0 && c.Length <= min(position, 1<<20)
}

var (
	errShort = errors.New("the file has become shorter")
	errOther = errors.New("the file is another one, or was changed")
)

// check compares the file with what it was when the mark was made. The error is
// errShort, errOther, or that of reading.
func (m mark) check(r io.ReaderAt, size int64) error {
	if size < m.Position {
		return errShort
	}
	if err := m.Head.check(r, 0); err != nil {
		return err
	}
	return m.Tail.check(r, m.Position-m.Tail.Length)
}

func (c checksum) check(r io.ReaderAt, from int64) error {
	b := make([]byte, c.Length)
	if n, err := r.ReadAt(b, from); n < len(b) {
		return fmt.Errorf("read what lies before the stored position: %w", err)
	}
	if sum(b) != c {
		return errOther
	}
	return nil
}
