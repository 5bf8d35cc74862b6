package external

import (
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/yson"
)

// TableParameters are those of the manager "simple", and of joiners of that class.
type TableParameters struct {
	// The name of the table in the pipeline's store, such as //home/accounts. An attribute cluster in front of it tells tables of one name apart; others do not matter.
	Path *yson.Node `yson:"path,required"`
}

// TableName reads the name of a table in the store from parameters that are
// [TableParameters].
func TableName(p flow.Parameters) (string, error) {
	var t TableParameters
	if err := p.Decode(&t); err != nil {
		return "", err
	}
	return t.name(p)
}

func (t *TableParameters) name(p flow.Parameters) (string, error) {
	if t.Path.Kind != yson.KindString || t.Path.Text == "" {
		return "", yson.One(t.Path, yson.Join(p.Path(), "path"), "this is the name of a table in the store, such as //home/accounts")
	}
	for _, a := range t.Path.Attributes {
		if a.Key == "cluster" && a.Value.Kind == yson.KindString {
			return a.Value.Text + ":" + t.Path.Text, nil
		}
	}
	return t.Path.Text, nil
}

// LookupParameters are those of the joiner "simple" in the dynamic spec. They may
// change while it runs.
type LookupParameters struct {
	// What is remembered of rows that were looked up, those that are not there too.
	Cache CacheParameters `yson:"cache"`
}

// CacheParameters bound what is remembered.
type CacheParameters struct {
	// For how long a row is used without looking again; 0 is for the epoch alone.
	TTL time.Duration `yson:"ttl" range:">=0,<=36500d"`
	// How much each partition remembers; rows that were used longest ago are forgotten first.
	MaxBytes yson.Size `yson:"max_bytes" range:">=0,<=1Ti"`
}

// ParseLookup reads the dynamic parameters of a joiner that looks rows up.
func ParseLookup(p flow.Parameters) (l LookupParameters, err error) {
	l.SetDefaults()
	err = p.Decode(&l)
	return l, err
}

// SetDefaults sets what applies where nothing is said.
func (l *LookupParameters) SetDefaults() { l.Cache.SetDefaults() }

// SetDefaults sets what applies where nothing is said.
func (c *CacheParameters) SetDefaults() { c.MaxBytes = 16 << 20 }
