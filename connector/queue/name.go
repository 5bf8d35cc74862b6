package queue

import (
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Name is the name of a queue or a consumer in a spec: any text that is not empty
// and has no zero byte. A path of the reference system is one; what such a path
// says in angle brackets, the cluster, means nothing here.
type Name string

// UnmarshalYSON implements [yson.Unmarshaler].
func (n *Name) UnmarshalYSON(node *yson.Node, path string) yson.Problems {
	if node.Kind != yson.KindString {
		return yson.One(node, path, "want the name of a queue or consumer, as a string, got %s", node.Kind)
	}
	text := node.Text
	if end := strings.Index(text, ">//"); end > 0 && text[0] == '<' {
		text = text[end+1:]
	}
	if text == "" || strings.IndexByte(text, 0) >= 0 {
		return yson.One(node, path, "%q is no name: it is empty or has a zero byte", node.Text)
	}
	*n = Name(text)
	return nil
}
