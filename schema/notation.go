package schema

import "github.com/rondo-flow/rondo/yson"

// columnNotation is a column as specs, table schemas and companions write it.
type columnNotation struct {
	Name string `yson:"name,required"` // distinct in the schema
	Type Type   `yson:"type"`          // one of the column types; required unless type_v3 is given

	// TypeV3 is the type in the newer notation of tables: a type, which is then
	// required, or {type_name=optional; item=TYPE}. A structured type needs Type
	// beside it, any mostly.
	TypeV3 *yson.Node `yson:"type_v3"`

	Required   *bool  `yson:"required"`                               // null is refused; a column with an expression is always required
	Expression string `yson:"expression"`                             // computes the column from the others; group_by_schema only
	SortOrder  string `yson:"sort_order" enum:"ascending descending"` // tables only
}

// UnmarshalYSON reads a column: a map of name, type or type_v3, required,
// expression and sort_order.
func (c *Column) UnmarshalYSON(n *yson.Node, path string) yson.Problems {
	var w columnNotation
	problems := yson.Decode(n, path, &w)
	switch v3 := n.Get("type_v3"); {
	case v3.IsSet():
		problems = append(problems, w.takeV3(yson.Join(path, "type_v3"))...)
	case n.Kind == yson.KindMap && !n.Get("type").IsSet():
		problems.Add(n, path, "type is missing")
	}
	*c = Column{Name: w.Name, Type: w.Type, Required: w.Required != nil && *w.Required, Expression: w.Expression, SortOrder: w.SortOrder}
	return problems
}

// takeV3 takes type and required from TypeV3, which may repeat the older
// fields but not contradict them.
func (w *columnNotation) takeV3(path string) yson.Problems {
	t, optional, problem := typeV3(w.TypeV3, path)
	required := !optional
	switch {
	case problem != nil && w.Type.Valid():
		return nil
	case problem != nil:
		return problem
	case w.Type.Valid() && w.Type != t:
		return yson.One(w.TypeV3, path, "this says %s, but type says %s: keep one of them", t, w.Type)
	case w.Required != nil && *w.Required != required:
		return yson.One(w.TypeV3, path, "this says required=%%%v, but required says the opposite: keep one of them", required)
	}
	w.Type, w.Required = t, &required
	return nil
}

// typeV3 reads TYPE, {type_name=TYPE} or {type_name=optional; item=TYPE}.
func typeV3(n *yson.Node, path string) (t Type, optional bool, problem yson.Problems) {
	if name, item := n.Get("type_name"), n.Get("item"); item != nil && name != nil && name.Text == "optional" {
		optional = true
		n, path = item, yson.Join(path, "item")
	}
	if name := n.Get("type_name"); name != nil && len(n.Map) == 1 {
		n = name
	}
	if n.Kind != yson.KindString {
		return 0, false, yson.One(n, path, "columns hold plain types or optional ones: add type=any for structured values")
	}
	t, err := ParseType(n.Text)
	if err != nil {
		return 0, false, yson.One(n, path, "%v", err)
	}
	return t, optional, nil
}

// Node returns the schema as a list of column maps, which specs and companions
// read back to an equal one.
func (s *Schema) Node() *yson.Node {
	list := yson.List()
	for _, c := range s.columns {
		list.List = append(list.List, c.node())
	}
	return list
}

func (c *Column) node() *yson.Node {
	n := yson.Map(
		yson.Entry{Key: "name", Value: yson.String(c.Name)},
		yson.Entry{Key: "type", Value: yson.String(c.Type.String())},
	)
	if c.Required {
		n.Map = append(n.Map, yson.Entry{Key: "required", Value: yson.Boolean(true)})
	}
	if c.Expression != "" {
		n.Map = append(n.Map, yson.Entry{Key: "expression", Value: yson.String(c.Expression)})
	}
	if c.SortOrder != "" {
		n.Map = append(n.Map, yson.Entry{Key: "sort_order", Value: yson.String(c.SortOrder)})
	}
	return n
}
