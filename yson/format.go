package yson

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a notation that [Parse] reads.
type Format uint8

// The notations. YSON is text, binary, or both mixed. A fragment is what stands
// between the brackets of a list or a map: rows that follow each other, say.
const (
	YSON Format = iota + 1
	YAML
	JSON
	YSONListFragment
	YSONMapFragment
)

// FormatOf returns the notation that a file's extension stands for: .yson,
// .yaml, .yml or .json.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".yson":
		return YSON, nil
	case ".yaml", ".yml":
		return YAML, nil
	case ".json":
		return JSON, nil
	default:
		return 0, fmt.Errorf("the extension %q is none of .yson, .yaml, .yml, .json: rename the file", ext)
	}
}

const byteOrderMark = "\uFEFF"

// maxDepth bounds the nesting of trees, so that no input exhausts the stack.
const maxDepth = 200

// Parse returns the tree of data; of a fragment, the list or map. A fault of
// syntax is a [Problems] of one problem with its [Pos]. Depth is limited to 200
// levels. A byte order mark before the text is passed over.
func Parse(data []byte, format Format) (*Node, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	switch format {
	case YSON, YSONListFragment, YSONMapFragment:
		return parseYSON(data, format)
	case YAML:
		return parseYAML(data)
	case JSON:
		return parseJSON(data)
	default:
		return nil, fmt.Errorf("format %d does not exist: use YSON, YAML or JSON", format)
	}
}
