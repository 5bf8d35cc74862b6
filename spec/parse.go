package spec

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// file is the top level of a specification file.
type file struct {
	Spec    Pipeline `yson:"spec,required"` // the graph: what may change only while the pipeline does not run
	Dynamic Dynamic  `yson:"dynamic_spec"`  // what may change while it runs

	// Name is the pipeline's: letters, digits and "_.-". Unset, it is the file's
	// name without extension; of a file named pipeline, its folder's.
	Name string `yson:"name"`

	_ struct{} `yson:"vanilla|cluster_url|cluster|proxy|pool|pipeline_path|pipeline|yt_config|monitoring,ignored"`
}

// Parse reads and validates the specification in data, whose notation the
// extension of path tells. An error of its content is a [yson.Problems] with
// everything that is wrong; unless the tree cannot be read, the specification is
// returned with it, for those who look for more problems in what was understood.
func Parse(path string, data []byte) (*Spec, error) {
	format, err := yson.FormatOf(path)
	if err != nil {
		return nil, err
	}
	root, err := yson.Parse(data, format)
	if err != nil {
		return nil, err
	}
	return FromNode(path, root)
}

// Stored returns the specification kept in a store: the texts of a [Spec] with
// its name and path.
func Stored(name, path, staticText, dynamicText string) (*Spec, error) {
	root, err := storedTree(name, staticText, dynamicText)
	if err != nil {
		return nil, err
	}
	return FromNode(path, root)
}

// Given returns the specification as a file would give it, without defaults.
func (s *Spec) Given() (*yson.Node, error) { return storedTree(s.Name, s.StaticText, s.DynamicText) }

// storedTree is the tree of a file with the texts of a specification.
func storedTree(name, staticText, dynamicText string) (*yson.Node, error) {
	static, err := yson.Parse([]byte(staticText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("stored static spec of %s: %w", name, err)
	}
	dynamic, err := yson.Parse([]byte(dynamicText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("stored dynamic spec of %s: %w", name, err)
	}
	return yson.Map(
		yson.Entry{Key: "name", Value: yson.String(name)},
		yson.Entry{Key: "spec", Value: static},
		yson.Entry{Key: "dynamic_spec", Value: dynamic},
	), nil
}

// FromNode validates the tree of a specification file, as [Parse] does. path
// gives the default name and the folder of relative paths.
func FromNode(path string, root *yson.Node) (*Spec, error) {
	c := newChecker(path, root)
	c.check()
	c.checkAvailable()
	return c.result()
}

// newChecker decodes the tree and fills in what is implied.
func newChecker(path string, root *yson.Node) *checker {
	var f file
	root = orEmpty(root)
	decoder := yson.Decoder{Elsewhere: misplaced, Types: map[reflect.Type]yson.TypeDecoder{
		reflect.TypeFor[*schema.Schema](): decodeSchema,
	}}
	decoder.Decode(root, "", &f)
	s := &Spec{
		Name:     f.Name,
		Path:     path,
		Pipeline: f.Spec,
		Dynamic:  f.Dynamic,
		Ignored:  decoder.Ignored,
		root:     place{node: root},

		StaticText:  string(yson.Encode(orEmpty(root.Get("spec")))),
		DynamicText: string(yson.Encode(orEmpty(root.Get("dynamic_spec")))),
	}
	if s.Name == "" {
		s.Name = defaultName(path)
	}
	c := &checker{spec: s, problems: decoder.Problems, root: s.root}
	c.complete()
	return c
}

func orEmpty(n *yson.Node) *yson.Node {
	if n.IsSet() {
		return n
	}
	return yson.Map()
}

// defaultName is the file's name without extension; of a file named pipeline,
// its folder's.
func defaultName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if name != "pipeline" {
		return name
	}
	if abs, err := filepath.Abs(path); err == nil {
		if folder := filepath.Base(filepath.Dir(abs)); isName(folder) {
			return folder
		}
	}
	return name
}

// isName allows what is safe as the name of a folder on any system.
func isName(s string) bool {
	plain := strings.TrimFunc(s, func(r rune) bool {
		return r < 0x80 && (r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
	}) == ""
	return plain && s != "" && len(s) <= 100 && s[0] != '.' && s[0] != '-'
}

// decodeSchema reads a list of columns; attributes of the list are those that
// exported table schemas carry, and mean nothing here.
func decodeSchema(n *yson.Node, path string) (any, yson.Problems) {
	var columns []schema.Column
	plain := *n
	plain.Attributes = nil
	if problems := yson.Decode(&plain, path, &columns); len(problems) > 0 {
		return nil, problems
	}
	s, err := schema.New(columns)
	if err != nil {
		return nil, problemsOf(place{node: n, path: path}, err)
	}
	return s, nil
}

// problemsOf reports each of the joined errors at p, or at the column of the
// list at p that it is about. Problems stay what they are.
func problemsOf(p place, err error) yson.Problems {
	if problems, ok := err.(yson.Problems); ok {
		return problems
	}
	var problems yson.Problems
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			problems = append(problems, problemsOf(p, e)...)
		}
		return problems
	}
	if e := (*schema.ColumnError)(nil); errors.As(err, &e) {
		p = p.named(e.Column)
	}
	problems.Add(p.node, p.path, "%v", err)
	return problems
}
