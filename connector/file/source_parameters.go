package file

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// SourceParameters are the parameters of the source "file".
type SourceParameters struct {
	// Path is the file, or a pattern of files as [filepath.Match] takes it;
	// relative to the folder of the spec file.
	Path string `yson:"path"`
	// Paths are several, instead of one path.
	Paths []string `yson:"paths"`
	// Format is jsonl (JSON Lines) or csv.
	Format string `yson:"format" enum:"jsonl csv"`
	// Finite files are read once, to the end that they have; others are followed
	// as they grow, rotate and are cut.
	Finite bool `yson:"finite"`
	// PollInterval is how long a followed file is left alone when there was
	// nothing new in it.
	PollInterval time.Duration `yson:"poll_interval" range:">=1ms,<=1h"`
	// OnMalformed is what a row does that cannot be read, or whose key or event
	// time cannot be computed: fail stops the pipeline, skip passes over the row
	// and counts it as "malformed".
	OnMalformed string `yson:"on_malformed" enum:"fail skip"`
	// MaxRowBytes bounds a row, and with it the memory that a file can take.
	MaxRowBytes yson.Size `yson:"max_row_bytes" range:">0,<=2Gi"`

	// Header tells whether the first row of each CSV file names the columns. It
	// does if this is not given, unless Columns are.
	Header *bool `yson:"header"`
	// Columns names the fields of CSV rows without a header, in order. They are
	// the columns of the stream if this is not given.
	Columns []string `yson:"columns"`
	// Delimiter is the ASCII character between the fields of CSV rows.
	Delimiter string `yson:"delimiter"`
}

// SetDefaults implements [yson.Defaulter].
func (p *SourceParameters) SetDefaults() {
	p.Format, p.OnMalformed, p.Delimiter = formatJSON, "fail", ","
	p.PollInterval, p.MaxRowBytes = 250*time.Millisecond, 64<<20
}

const (
	formatJSON = "jsonl"
	formatCSV  = "csv"
)

// check returns what is wrong with the parameters of a source.
func (p *SourceParameters) check(setup connector.Setup) error {
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	p.checkPaths(&problems, node, path)
	for _, c := range setup.Schema.Columns() {
		if c.Expression != "" {
			problems.Add(node, path, "column %s of the stream has an expression: the file source reads columns, it computes none", c.Name)
		}
	}
	if p.Format != formatCSV {
		csvOnly(&problems, node, path, "header", "columns", "delimiter")
	} else if _, err := p.decoder(setup.Schema); err != nil {
		problems.Add(node, path, "%v", err)
	}
	return problems.Err()
}

func (p *SourceParameters) checkPaths(problems *yson.Problems, node *yson.Node, path string) {
	one, several := node.Get("path"), node.Get("paths")
	switch {
	case one.IsSet() && several.IsSet():
		problems.Add(several, yson.Join(path, "paths"), "path is given too: keep one of them")
	case !one.IsSet() && len(p.Paths) == 0:
		problems.Add(node, path, "path is missing: name a file, relative to the folder of the spec file, or several as paths")
	case one.IsSet():
		checkPath(problems, one, yson.Join(path, "path"), p.Path)
	}
	for i, entry := range p.Paths {
		checkPath(problems, several.List[i], yson.Index(yson.Join(path, "paths"), i), entry)
	}
}

func checkPath(problems *yson.Problems, node *yson.Node, path, value string) {
	if value == "" {
		problems.Add(node, path, "the path is empty: name a file, relative to the folder of the spec file")
	}
	if _, err := filepath.Match(value, ""); err != nil {
		problems.Add(node, path, "%q is no pattern: each [ needs its ], or a backslash before it where it stands for itself", value)
	}
}

// csvOnly refuses parameters that mean nothing without CSV.
func csvOnly(problems *yson.Problems, node *yson.Node, path string, names ...string) {
	for _, name := range names {
		if n := node.Get(name); n.IsSet() {
			problems.Add(n, yson.Join(path, name), "this is for format = csv")
		}
	}
}

// oneByte returns the only byte of a delimiter.
func oneByte(delimiter string) (byte, error) {
	if len(delimiter) != 1 {
		return 0, fmt.Errorf("the delimiter %q is not one ASCII character", delimiter)
	}
	return delimiter[0], nil
}

// patterns are the paths, whichever way they are given.
func (p *SourceParameters) patterns() []string {
	if p.Paths != nil {
		return p.Paths
	}
	return []string{p.Path}
}

// decoder makes the decoder of one reader.
func (p *SourceParameters) decoder(s *schema.Schema) (rowtext.Decoder, error) {
	if p.Format != formatCSV {
		return rowtext.NewJSONDecoder(s), nil
	}
	delimiter, err := oneByte(p.Delimiter)
	if err != nil {
		return nil, err
	}
	dialect := rowtext.CSV{Delimiter: delimiter, Header: p.Columns == nil, Columns: p.Columns}
	if p.Header != nil {
		dialect.Header = *p.Header
	}
	return rowtext.NewCSVDecoder(s, dialect)
}
