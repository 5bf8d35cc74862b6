package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// statePrinter writes states in the form asked for.
type statePrinter struct {
	out  io.Writer
	json bool
	raw  bool
}

func (f *stateFlags) printer(out io.Writer) *statePrinter {
	return &statePrinter{out: out, json: f.Output == "json", raw: f.Raw}
}

// key writes the states of a key: a line each, or one object.
func (p *statePrinter) key(comp *spec.Computation, key string, rows []store.StateRow) error {
	object, err := keyObject(comp, key)
	if err != nil {
		return err
	}
	text := p.lines(comp.ID, object, rows)
	if p.json {
		text = p.object(comp.ID, object, rows)
	}
	_, err = io.WriteString(p.out, text)
	return err
}

func (p *statePrinter) lines(computation, key string, rows []store.StateRow) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", computation, key, row.Name, p.value(row.Value))
	}
	return b.String()
}

func (p *statePrinter) object(computation, key string, rows []store.StateRow) string {
	var states []string
	for _, row := range rows {
		states = append(states, jsonText(row.Name)+":"+p.value(row.Value))
	}
	return fmt.Sprintf(`{"computation":%s,"key":%s,"states":{%s}}`+"\n", jsonText(computation), key, strings.Join(states, ","))
}

func (p *statePrinter) value(b []byte) string {
	if p.raw {
		return jsonBytes(b)
	}
	return valueText(b)
}

// goOn returns the arguments with which the list goes on at a key.
func (p *statePrinter) goOn(comp *spec.Computation, key string) (string, error) {
	text, err := keyObject(comp, key)
	return fmt.Sprintf("%s --from '%s'", comp.ID, strings.ReplaceAll(text, "'", `'\''`)), err
}

// keyObject is a key as a JSON object.
func keyObject(comp *spec.Computation, key string) (string, error) {
	row, err := schema.DecodeKey(key)
	if err == nil {
		var line []byte
		if line, err = rowtext.NewJSONEncoder(comp.GroupBy).AppendRow(nil, row); err == nil {
			return strings.TrimSuffix(string(line), "\n"), nil
		}
	}
	return "", fmt.Errorf("computation %s: stored key %x does not fit its group_by_schema: %w", comp.ID, key, err)
}
