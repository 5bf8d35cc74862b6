package external

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is how a table is written.
type Format uint8

// The formats, by the ends of their files' names.
const (
	FormatParquet Format = iota + 1 // .parquet
	FormatCSV                       // .csv, with a header
	FormatJSON                      // .jsonl or .ndjson
)

// FormatOf returns the format that a file's name tells.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet":
		return FormatParquet, nil
	case ".csv":
		return FormatCSV, nil
	case ".jsonl", ".ndjson":
		return FormatJSON, nil
	default:
		return 0, fmt.Errorf("%s: the format of a table is told by the end of its name: .parquet, .csv, .jsonl or .ndjson", path)
	}
}
