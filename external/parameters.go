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

// parameters are the static ones of a joiner.
type parameters struct {
	// Path is the table's, relative to the folder of the spec file.
	Path string `yson:"path,required"`
	// Unavailable is what becomes of slices that cannot be read.
	Unavailable string `yson:"unavailable_source_policy" enum:"retry mark_unreadable"`
	// Schema gives the columns of a text that has no .meta file.
	Schema []schema.Column `yson:"schema"`

	columns *schema.Schema // of Schema, nil if it is not given
}

// Dynamic are the parameters that may change while a joiner runs.
type Dynamic struct {
	ReadAttempts   int           `yson:"read_attempts" range:">=1,<=1000"`                // how often a slice is read before it counts as unreadable
	Backoff        time.Duration `yson:"unavailable_source_backoff" range:">=0,<=36500d"` // how long it is not read then
	MaxShrinkRatio float64       `yson:"max_shrink_ratio" range:">=0,<=1"`                // a table that lost a larger part of its rows is not believed
}

// ParseDynamic reads the dynamic parameters of a joiner.
func ParseDynamic(p flow.Parameters) (Dynamic, error) {
	d := Dynamic{ReadAttempts: 3, Backoff: 5 * time.Minute, MaxShrinkRatio: 0.5}
	err := p.Decode(&d)
	return d, err
}

// parse reads the static parameters.
func parse(o Options) (parameters, error) {
	p := parameters{Unavailable: string(Retry)}
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

func (p *parameters) readSchema() (err error) {
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
