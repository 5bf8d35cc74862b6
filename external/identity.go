package external

import "fmt"

// Identity says which version of a table is at its path (KV-55): rows and
// checksum where something next to the rows tells them, else what the file system
// says.
type Identity struct {
	// Rows is the number of rows.
	Rows int64
	// Checksum is that of a Parquet footer, or the one in the .meta file of a text;
	// empty for a text without one.
	Checksum string
	stamp    stamp
	table    uint64 // in the store
}

// Same tells whether both are one version.
func (i Identity) Same(o Identity) bool {
	if i.table != 0 || o.table != 0 {
		return i.table == o.table
	}
	if i.Checksum != "" || o.Checksum != "" {
		return i.Rows == o.Rows && i.Checksum == o.Checksum
	}
	return i.stamp == o.stamp
}

// String is what people are shown, and what accept is told.
func (i Identity) String() string {
	if i.table != 0 {
		return fmt.Sprintf("%d rows, table %d of the store", i.Rows, i.table)
	}
	if i.Checksum != "" {
		return fmt.Sprintf("%d rows, checksum %s", i.Rows, i.Checksum)
	}
	return fmt.Sprintf("%d rows, %d bytes of %d, %s", i.Rows, i.stamp.size, i.stamp.modified, i.stamp.node)
}
