package spec

import (
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// ExternalManager owns an external table as keyed state.
type ExternalManager struct {
	ID         string
	ClassName  string     `yson:"external_state_manager_class_name|class_name"` // who keeps the table
	Parameters *yson.Node `yson:"parameters"`                                   // of the class
}

// SetDefaults implements [yson.Defaulter].
func (m *ExternalManager) SetDefaults() { m.ClassName = classPrefix + simpleManagerClass }

// ExternalJoiner reads an external table by key.
type ExternalJoiner struct {
	ID             string
	ClassName      string     `yson:"external_state_joiner_class_name|class_name"` // who reads the table
	ClientProvider string     `yson:"client_provider_resource_id"`                 // resource that gives access
	ClientFactory  string     `yson:"client_factory_resource_id"`                  // the same, if there is no ClientProvider
	JoinOn         JoinOn     `yson:"join_on"`                                     // which key is looked up
	AutoPreload    bool       `yson:"auto_preload"`                                // rows are read before the function asks for them
	Parameters     *yson.Node `yson:"parameters"`                                  // of the class
}

// SetDefaults implements [yson.Defaulter].
func (j *ExternalJoiner) SetDefaults() {
	j.ClassName, j.AutoPreload = classPrefix+simpleJoinerClass, true
}

// VisitorDriven reports whether the joiner takes part in scans (KV-2).
func (j *ExternalJoiner) VisitorDriven() bool {
	return isClass(j.ClassName, visitorJoinerClass, shortVisitorJoinerClass)
}

// Classes of external states; the long names may have classPrefix in front.
const (
	simpleManagerClass = "TSimpleExternalStateManager"
	simpleJoinerClass  = "TSimpleExternalStateJoiner"
	visitorJoinerClass = "TStaticTableKeyVisitorJoiner"

	shortVisitorJoinerClass = "static_table"
	shortSimpleClass        = "simple"
)

// StateJoiner reads the internal states of another computation.
type StateJoiner struct {
	ID          string
	Computation string `yson:"computation_id,required"` // whose state it is
	StateName   string `yson:"state_name,required"`     // which of its states
	JoinOn      JoinOn `yson:"join_on"`                 // which key is looked up
	AutoPreload bool   `yson:"auto_preload"`            // rows are read before the function asks for them
}

// SetDefaults implements [yson.Defaulter].
func (j *StateJoiner) SetDefaults() { j.AutoPreload = true }

// JoinOn says which key a joiner looks up, and for which streams.
type JoinOn struct {
	KeySchemaOverride *schema.Schema `yson:"key_schema_override"`      // the key to look up, instead of group_by_schema
	KeyProviders      *[]string      `yson:"key_provider_streams,set"` // the streams whose keys are looked up; all if not given
}
