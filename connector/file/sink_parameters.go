package file

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// SinkParameters are the parameters of the sink "file".
type SinkParameters struct {
	// Path is the file, relative to the data folder. Folders on the way are made.
	// It may not lead into the folder "store" there.
	Path string `yson:"path,required"`
	// Format is jsonl (JSON Lines) or csv, which begins with a header.
	Format string `yson:"format" enum:"jsonl csv"`
	// Delimiter is the ASCII character between the fields of CSV rows.
	Delimiter string `yson:"delimiter"`
}

// SetDefaults implements [yson.Defaulter].
func (p *SinkParameters) SetDefaults() { p.Format, p.Delimiter = formatJSON, "," }

// check returns what is wrong with the parameters of a sink.
func (p *SinkParameters) check(setup connector.Setup) error {
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	if !filepath.IsLocal(p.Path) && !filepath.IsAbs(p.Path) {
		problems.Add(node.Get("path"), yson.Join(path, "path"), "%q is not below the data folder, which it is relative to: give a path below it, or an absolute one", p.Path)
	}
	switch s := (&sink{name: p.Path, dir: setup.DataDir}); {
	case strings.ContainsRune(p.Path, 0):
		problems.Add(node.Get("path"), yson.Join(path, "path"), "%q has a zero byte, which no path can have: give another path", p.Path)
	case inStore(s.dir, s.path()):
		problems.Add(node.Get("path"), yson.Join(path, "path"), "%q leads into %s, where the pipeline keeps its state: give a path outside of it", p.Path, filepath.Join(s.dir, storeName))
	}
	if p.Format != formatCSV {
		csvOnly(&problems, node, path, "delimiter")
	} else if err := p.checkColumns(setup.Streams); err != nil {
		problems.Add(node, path, "%v", err)
	}
	return problems.Err()
}

// checkColumns refuses streams that cannot share the header of a CSV file.
func (p *SinkParameters) checkColumns(streams flow.Streams) error {
	header, first := "", ""
	for _, id := range slices.Sorted(maps.Keys(streams)) {
		e, err := p.encoder(streams[id])
		if err != nil {
			return fmt.Errorf("stream %s: %w", id, err)
		}
		is := string(e.AppendHeader(nil))
		if first == "" {
			header, first = is, id
		}
		if is != header {
			return fmt.Errorf("the streams %s and %s have other columns than each other, and a CSV file has one header: give each a sink of its own, or write jsonl", first, id)
		}
	}
	return nil
}

// encoder makes the encoder of one stream.
func (p *SinkParameters) encoder(s *schema.Schema) (rowtext.Encoder, error) {
	if p.Format != formatCSV {
		return rowtext.NewJSONEncoder(s), nil
	}
	delimiter, err := oneByte(p.Delimiter)
	if err != nil {
		return nil, err
	}
	return rowtext.NewCSVEncoder(s, delimiter)
}
