package console

// StoredTable is a table in the store. Schema is text as package schema writes it.
// Relation is the table of a user's own that has its rows, if one has.
type StoredTable struct {
	ID       uint64 `json:"table_id"`
	Name     string `json:"name"`
	Schema   string `json:"schema"`
	Relation string `json:"relation,omitempty"`
}

// Tables are all tables.
type Tables struct {
	Tables []StoredTable `json:"tables"`
}

// TableCreated has the id of a table that was made, or was there.
type TableCreated struct {
	ID uint64 `json:"table_id"`
}

// TableKeys asks for the rows of some keys, which are encoded as the store has them.
type TableKeys struct {
	Table uint64   `json:"table_id"`
	Keys  [][]byte `json:"keys"`
}

// TableValues are the values of rows; null is one that is not there.
type TableValues struct {
	Values [][]byte `json:"values"`
}

// TableList asks for the rows of a range, as [store.Rows] does. The answer is
// [States] whose rows have no name.
type TableList struct {
	Table    uint64 `json:"table_id"`
	Lower    []byte `json:"lower"`
	Upper    []byte `json:"upper"`
	MaxRows  int    `json:"max_rows"`
	MaxBytes int    `json:"max_bytes"`
}

// TableRows are rows to be written, all or none.
type TableRows struct {
	Rows []TableRow `json:"rows"`
}

// TableRow is a row to be written, as [store.TableWrite] is.
type TableRow struct {
	Table   uint64 `json:"table_id"`
	Key     []byte `json:"key"`
	Value   []byte `json:"value"`
	Checked bool   `json:"checked,omitempty"`
	Was     []byte `json:"was,omitempty"`
}
