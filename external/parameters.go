package external

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Class names of the static table joiner, the short one and the long one.
const (
	StaticTable     = "static_table"
	StaticTableLong = "NYT::NFlow::TStaticTableKeyVisitorJoiner"
)

// Policy says what a list does that cannot read its slice (KV-53).
type Policy string

// The policies.
const (
	Retry          Policy = "retry"           // it fails, and is repeated
	MarkUnreadable Policy = "mark_unreadable" // the scan goes on, and the keys are unknown
)

// Parameters are those of the joiner "static_table".
type Parameters struct {
	// The file, relative to the folder of the spec file; its end says the format: .parquet, .csv, .jsonl or .ndjson.
	Path string `yson:"path,required"`
	// What becomes of a slice that cannot be read: it is listed again (retry), or its keys are unknown.
	Unavailable string `yson:"unavailable_source_policy" enum:"retry mark_unreadable"`
	// Columns of a text that has no .meta file; those of CSV are strings by default.
	Schema []schema.Column `yson:"schema"`

	columns *schema.Schema // of Schema, nil if it is not given
}

// DynamicParameters are those of the joiner "static_table" in the dynamic spec. They
// may change while it runs.
type DynamicParameters struct {
	// How often a slice is read, at once, before it counts as unreadable.
	ReadAttempts int `yson:"read_attempts" range:">=1,<=1000"`
	// For how long the table is not read after that; the next list tries again.
	Backoff time.Duration `yson:"unavailable_source_backoff" range:">=0,<=36500d"`
	// What a table that lost a larger part of its rows since the last completed pass does not have is unknown until rondo table accept.
	MaxShrinkRatio float64 `yson:"max_shrink_ratio" range:">=0,<=1"`
}

// SetDefaults sets what applies where nothing is said.
func (d *DynamicParameters) SetDefaults() {
	d.ReadAttempts, d.Backoff, d.MaxShrinkRatio = 3, 5*time.Minute, 0.5
}

// ParseDynamic reads the dynamic parameters of a joiner.
func ParseDynamic(p flow.Parameters) (d DynamicParameters, err error) {
	d.SetDefaults()
	err = p.Decode(&d)
	return d, err
}

// SetDefaults sets what applies where nothing is said.
func (p *Parameters) SetDefaults() { p.Unavailable = string(Retry) }

// parse reads the static parameters.
func parse(o Options) (Parameters, error) {
	var p Parameters
	p.SetDefaults()
	if err := o.Parameters.Decode(&p); err != nil {
		return p, err
	}
	if p.Path == "" {
		return p, errors.New("path is empty: name the file of the table")
	}
	if !filepath.IsAbs(p.Path) {
		p.Path = filepath.Join(o.SpecDir, p.Path)
	}
	if _, err := FormatOf(p.Path); err != nil {
		return p, err
	}
	return p, p.readSchema()
}

func (p *Parameters) readSchema() (err error) {
	if p.Schema == nil {
		return nil
	}
	if p.columns, err = schema.New(p.Schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	for _, c := range p.Schema {
		if c.Expression != "" {
			return fmt.Errorf("schema: column %s has an expression: a table stores all of its columns; leave the expression out", c.Name)
		}
	}
	return nil
}
