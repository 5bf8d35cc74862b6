package engine

import (
	"context"
	"slices"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// listWork bounds the rows and tombstones that one list passes over, so that a
// list over deleted keys takes bounded time (KV-19).
const listWork = 200_000

// list reads a slice in a goroutine of the job's; the answer comes back through
// answers. An answer that comes after the job ended goes nowhere.
func (j *job) list(ctx context.Context, l partition.List) {
	j.lists.Add(1)
	go func() {
		defer j.lists.Done()
		j.answers <- j.listed(ctx, l)
		j.box.wake()
	}()
}

func (j *job) listed(ctx context.Context, l partition.List) partition.Event {
	answers, err := j.listStates(ctx, l)
	if err == nil {
		answers, err = j.listManaged(ctx, l, answers)
	}
	if err == nil {
		answers, err = j.listTables(ctx, l.Visitor, l.List, answers)
	}
	if len(answers) == 0 {
		answers = []visit.Answer{{}}
	}
	if err != nil {
		return partition.ListFailed{Visitor: l.Visitor, Token: l.List.Token, Err: err}
	}
	return partition.Listed{Visitor: l.Visitor, Token: l.List.Token, Answers: answers}
}

// listStates asks the store, if the visit stream scans internal states.
func (j *job) listStates(ctx context.Context, l partition.List) ([]visit.Answer, error) {
	plan := &j.node.visitors[l.Visitor]
	if !plan.internal {
		return nil, nil
	}
	answer, err := j.env.store.ListStates(ctx, store.ListRequest{
		Computation: j.node.id,
		Lower:       boundKey(l.List.Range.Lower),
		Upper:       boundKey(l.List.Range.Upper),
		Names:       plan.names,
		MaxRows:     l.List.MaxRows, MaxBytes: l.List.MaxBytes, MaxWork: listWork,
	})
	if err != nil {
		return nil, err
	}
	a, err := found(answer)
	a.Names = namesIn(answer, plan.names)
	return []visit.Answer{a}, err
}

// boundKey is a bound as a prefix of encoded keys; empty is the lowest or the
// open end.
func boundKey(b visit.Bound) string {
	switch {
	case b.End:
		return ""
	case b.Key.Bytes != "":
		return b.Key.Bytes
	case b.Key.Hash == 0:
		return ""
	default:
		return string(schema.AppendHash(nil, b.Key.Hash))
	}
}

// found translates a store's answer. Rows stay where they are; visits bring
// pointers to them along.
func found(a *store.ListAnswer) (visit.Answer, error) {
	out := visit.Answer{Rows: a.Rows, Bytes: a.Bytes, Keys: make([]visit.Found, len(a.Keys))}
	for i := range a.Keys {
		k := &a.Keys[i]
		key, err := visitKey(k.Key)
		if err != nil {
			return visit.Answer{}, err
		}
		out.Keys[i] = visit.Found{Key: key, Rows: k, Bytes: k.Bytes}
	}
	if !a.Complete {
		key, err := visitKey(a.CompleteTo)
		if err != nil {
			return visit.Answer{}, err
		}
		bound := visit.At(key)
		out.CompleteTo = &bound
	}
	return out, nil
}

// namesIn returns those of the names under which the answer has rows (KV-2).
func namesIn(a *store.ListAnswer, names []string) (out []string) {
	for i := range a.Keys {
		if len(out) == len(names) {
			break
		}
		for _, row := range a.Keys[i].Rows {
			if slices.Contains(names, row.Name) && !slices.Contains(out, row.Name) {
				out = append(out, row.Name)
			}
		}
	}
	return out
}
