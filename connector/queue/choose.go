package queue

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/rondo-flow/rondo/schema"
)

// chooser returns the partition, of n, that a row goes to; turn is where it would
// go by turns.
type chooser func(row schema.Row, turn uint64, n int) (int, error)

// chooser makes the chooser of a stream.
func (p *SinkParameters) chooser(s *schema.Schema) (chooser, error) {
	switch {
	case p.PartitionBy != nil:
		return byColumns(s, p.PartitionBy)
	case p.HashExpression != "":
		return byHash(s, p.HashExpression, p.HashPolicy == "modulo")
	case p.IndexExpression != "":
		return byIndex(s, p.IndexExpression)
	default:
		return func(_ schema.Row, turn uint64, n int) (int, error) { return int(turn % uint64(n)), nil }, nil
	}
}

// place returns the part of the hash range, cut into n equal ones, that a hash is
// in. Whoever shares a range of keys with others this way reads few partitions.
func place(hash uint64, n int) int {
	part, _ := bits.Mul64(hash, uint64(n))
	return int(part)
}

func byColumns(s *schema.Schema, names []string) (chooser, error) {
	if len(names) == 0 {
		return nil, errors.New("partition_by names no column")
	}
	at := make([]int, len(names))
	for i, name := range names {
		var ok bool
		if at[i], ok = s.Index(name); !ok {
			return nil, fmt.Errorf("partition_by: there is no column %q", name)
		}
		if c := s.Columns()[at[i]]; c.Type.Kind() == schema.KindDouble || c.Type.Kind() == schema.KindAny {
			return nil, fmt.Errorf("partition_by: column %s is %s, which has no hash to rely on", name, c.Type)
		}
	}
	return func(row schema.Row, _ uint64, n int) (int, error) {
		values := make([]schema.Value, 0, 8)
		for _, i := range at {
			values = append(values, row[i])
		}
		hash, err := schema.FarmHash(values...)
		return place(hash, n), err
	}, nil
}

func byHash(s *schema.Schema, text string, modulo bool) (chooser, error) {
	e, err := compile(s, "tablet_index_routing_hash_expression", text)
	if err != nil {
		return nil, err
	}
	return func(row schema.Row, _ uint64, n int) (int, error) {
		hash, err := number(e, row)
		if err != nil || !modulo {
			return place(hash, n), err
		}
		return int(hash % uint64(n)), nil
	}, nil
}

func byIndex(s *schema.Schema, text string) (chooser, error) {
	e, err := compile(s, "tablet_index_expression", text)
	if err != nil {
		return nil, err
	}
	return func(row schema.Row, _ uint64, n int) (int, error) {
		index, err := number(e, row)
		if err == nil && index >= uint64(n) {
			err = fmt.Errorf("tablet_index_expression gives %d for the row %s, the partitions are 0 to %d", int64(index), row, n-1)
		}
		return int(index), err
	}, nil
}

func compile(s *schema.Schema, parameter, text string) (*schema.Expression, error) {
	e, err := schema.CompileExpression(text, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", parameter, err)
	}
	if k := e.Kind(); k != schema.KindInt64 && k != schema.KindUint64 {
		return nil, fmt.Errorf("%s gives %s, want an integer", parameter, k)
	}
	return e, nil
}

// number evaluates an expression that gives integers; null is 0.
func number(e *schema.Expression, row schema.Row) (uint64, error) {
	v, err := e.Eval(row)
	return v.AsUint64(), err
}
