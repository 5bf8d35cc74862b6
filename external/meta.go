package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// MetaSuffix is what the name of a text's .meta file has more than the text's.
const MetaSuffix = ".meta"

// meta is what lies next to a sorted text: what the text itself cannot say.
type meta struct {
	Version  int             `json:"version"`
	Rows     int64           `json:"rows"`
	Bytes    int64           `json:"bytes"`
	Checksum string          `json:"checksum"`
	Schema   json.RawMessage `json:"schema"`

	columns *schema.Schema
}

const (
	metaVersion = 1
	maxMeta     = 1 << 20
)

// nextSuffix is what the name of a .meta file has more than that while its text is
// about to come.
const nextSuffix = ".next"

// readMetas returns the .meta files of a text with some bytes: none, its own, or also
// the one of a text about to come that has as many. None of them fitting is an error.
func readMetas(d disk, path string, bytes int64) (fit []*meta, err error) {
	// The next one is looked for first: it becomes the other.
	next, err := readMeta(d, path+MetaSuffix+nextSuffix)
	if err != nil {
		return nil, err
	}
	own, err := readMeta(d, path+MetaSuffix)
	if err != nil {
		return nil, err
	}
	for _, m := range []*meta{own, next} {
		if m != nil && m.Bytes == bytes {
			fit = append(fit, m)
		}
	}
	if own != nil && len(fit) == 0 {
		return nil, own.strange(path, bytes)
	}
	return fit, nil
}

// readMeta reads a .meta file, nil if there is none.
func readMeta(d disk, path string) (*meta, error) {
	f, err := d.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxMeta))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	m := &meta{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, malformedf("%s cannot be read: %w: write the table anew with rondo table sort, or delete it", path, err)
	}
	if m.Version > metaVersion {
		return nil, malformedf("%s is of version %d, and this program knows %d: use the newer rondo", path, m.Version, metaVersion)
	}
	m.columns, err = parseSchema(m.Schema)
	if err != nil {
		return nil, malformedf("the schema in %s: %w", path, err)
	}
	return m, nil
}

// fits tells that a text that was read is the one that the .meta file is about.
func (m *meta) fits(path string, rows, bytes int64, checksum string) error {
	if m.Bytes != bytes {
		return m.strange(path, bytes)
	}
	if m.Rows != rows {
		return malformedf("%s and its %s file do not belong together: the text has %d rows, and %d are written there: replace both, or delete the latter", path, MetaSuffix, rows, m.Rows)
	}
	if m.Checksum != checksum {
		return malformedf("%s and its %s file do not belong together: the checksum of the text is %s, and %s is written there: replace both, or delete the latter", path, MetaSuffix, checksum, m.Checksum)
	}
	return nil
}

// strange is that a text is another one, by its size.
func (m *meta) strange(path string, bytes int64) error {
	return malformedf("%s and its %s file do not belong together: the text has %d bytes, and %d are written there: replace both, or delete the latter", path, MetaSuffix, bytes, m.Bytes)
}

func (m *meta) encode() ([]byte, error) {
	text, err := schemaText(m.columns)
	if err != nil {
		return nil, err
	}
	m.Version, m.Schema = metaVersion, text
	data, err := json.Marshal(m)
	return append(data, '\n'), err
}

// parseSchema reads what schemaText wrote.
func parseSchema(text []byte) (*schema.Schema, error) {
	var s tableSchema
	node, err := yson.Parse(text, yson.JSON)
	if err == nil {
		err = yson.Decode(node, "schema", &s).Err()
	}
	if err != nil {
		return nil, err
	}
	return schema.New(s.Columns)
}

type tableSchema struct {
	Columns []schema.Column `yson:"columns"`
}

func schemaText(s *schema.Schema) ([]byte, error) {
	type column struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Required bool   `json:"required,omitempty"`
	}
	var out struct {
		Columns []column `json:"columns"`
	}
	for _, c := range s.Columns() {
		out.Columns = append(out.Columns, column{c.Name, c.Type.String(), c.Required})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write down the schema: %w", err)
	}
	return text, nil
}
