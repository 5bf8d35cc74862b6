package external

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
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
	// The file, relative to the folder of the spec file; its end says the format: .parquet, .csv, .jsonl or .ndjson. Or, with // in front, a table in the store.
	Path *yson.Node `yson:"path,required"`
	// What becomes of a slice that cannot be read: it is listed again (retry), or its keys are unknown.
	Unavailable string `yson:"unavailable_source_policy" enum:"retry mark_unreadable"`
	// Columns of a text that has no .meta file; those of CSV are strings by default.
	Schema []schema.Column `yson:"schema"`

	columns *schema.Schema // of Schema, nil if it is not given
	path    string         // of a file, or the name in the store
	inStore bool
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
	if err := p.readPath(&o); err != nil {
		return p, err
	}
	return p, p.readSchema()
}

// readPath finds out whether the table is a file, and how it is called.
func (p *Parameters) readPath(o *Options) error {
	problem := func(format string, args ...any) error {
		return yson.One(p.Path, yson.Join(o.Parameters.Path(), "path"), format, args...)
	}
	if p.Path.Kind != yson.KindString || p.Path.Text == "" {
		return problem("this names a file, such as airports.parquet, or a table in the store, such as //home/airports")
	}
	p.path, p.inStore = p.Path.Text, strings.HasPrefix(p.Path.Text, storedPrefix)
	switch {
	case p.inStore && p.Schema != nil:
		return errors.New("schema is given, and a table in the store has one: leave it out")
	case p.inStore:
		var err error
		p.path, err = (&TableParameters{p.Path}).name(o.Parameters)
		return err
	case len(p.Path.Attributes) > 0:
		return problem("attributes <...> mean nothing for a file: remove them")
	}
	if !filepath.IsAbs(p.path) {
		p.path = filepath.Join(o.SpecDir, p.path)
	}
	_, err := FormatOf(p.path)
	return err
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
