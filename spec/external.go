package spec

import (
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// ExternalManager owns an external table as keyed state.
type ExternalManager struct {
	ID         string
	ClassName  string     `yson:"external_state_manager_class_name|class_name"`
	Parameters *yson.Node `yson:"parameters"`
}

// SetDefaults implements [yson.Defaulter].
func (m *ExternalManager) SetDefaults() { m.ClassName = simpleManagerClass }

// ExternalJoiner reads an external table by key.
type ExternalJoiner struct {
	ID             string
	ClassName      string     `yson:"external_state_joiner_class_name|class_name"`
	ClientProvider string     `yson:"client_provider_resource_id"`
	ClientFactory  string     `yson:"client_factory_resource_id"`
	JoinOn         JoinOn     `yson:"join_on"`
	AutoPreload    bool       `yson:"auto_preload"`
	Parameters     *yson.Node `yson:"parameters"`
}

// SetDefaults implements [yson.Defaulter].
func (j *ExternalJoiner) SetDefaults() { j.ClassName, j.AutoPreload = simpleJoinerClass, true }

// VisitorDriven reports whether the joiner takes part in scans (KV-2).
func (j *ExternalJoiner) VisitorDriven() bool { return j.ClassName == visitorJoinerClass }

// Classes of external states.
const (
	simpleManagerClass = classPrefix + "TSimpleExternalStateManager"
	simpleJoinerClass  = classPrefix + "TSimpleExternalStateJoiner"
	visitorJoinerClass = classPrefix + "TStaticTableKeyVisitorJoiner"
)

// StateJoiner reads the internal states of another computation.
type StateJoiner struct {
	ID          string
	Computation string `yson:"computation_id,required"`
	StateName   string `yson:"state_name,required"`
	JoinOn      JoinOn `yson:"join_on"`
	AutoPreload bool   `yson:"auto_preload"`
}

// SetDefaults implements [yson.Defaulter].
func (j *StateJoiner) SetDefaults() { j.AutoPreload = true }

// JoinOn says which key a joiner looks up, and for which streams.
type JoinOn struct {
	KeySchemaOverride *schema.Schema `yson:"key_schema_override"`
	KeyProviders      *[]string      `yson:"key_provider_streams,set"` // nil = all
}
