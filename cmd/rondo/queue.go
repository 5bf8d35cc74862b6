package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type queueCommand struct {
	Push queuePushCommand `cmd:"" help:"Append rows to a queue, which is made if it is not there."`
	Pull queuePullCommand `cmd:"" help:"Print the rows of a queue."`
	List queueListCommand `cmd:"" help:"List the queues with what they hold and how far it was read."`
	Trim queueTrimCommand `cmd:"" help:"Remove the first rows of a queue."`
}

// Help is shown below the usage.
func (queueCommand) Help() string {
	return `Examples:
  rondo queue push pipeline.yson orders <orders.jsonl
  rondo queue pull pipeline.yson orders --limit 10
  rondo queue list pipeline.yson
  rondo queue trim pipeline.yson orders --consumed`
}

const queueHelp = `

Queues lie in the store of a pipeline's data folder, which is found by the spec file or by --data. The pipeline must not be running, unless workers of a cluster run it: then --store alone leads to its queues.`

// queueFlags name a queue in a data folder.
type queueFlags struct {
	placeFlags
	Queue *string `arg:"" optional:"" help:"The name of the queue."`
}

// shift finds out what the arguments are: a lone one that is no spec file is the
// queue.
func (f *queueFlags) shift() error {
	if f.Queue == nil && f.noFile() {
		f.File, f.Queue = nil, f.File
	}
	if f.Queue == nil {
		return &usageError{errors.New("which queue? Give its name")}
	}
	return nil
}

// openQueue opens the store and describes the queue.
func (f *queueFlags) openQueue(ctx context.Context, io *streams) (storage, *store.Queue, error) {
	if err := f.shift(); err != nil {
		return nil, nil, err
	}
	s, err := f.existing(ctx, io)
	if err != nil {
		return nil, nil, err
	}
	q, err := queueNamed(ctx, s, *f.Queue)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, q, nil
}

// existing opens the store, which must be there.
func (f *placeFlags) existing(ctx context.Context, io *streams) (storage, error) {
	s, at, err := f.open(ctx, io)
	if err == nil && s == nil {
		err = fmt.Errorf("there is no store in %s: rondo queue push makes one; or name another folder with --data", at)
	}
	return s, err
}

func queueNamed(ctx context.Context, s store.Queues, name string) (*store.Queue, error) {
	all, err := s.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		known = append(known, all[i].Name)
	}
	return nil, fmt.Errorf("there is no queue %s: %s", name, yson.DidYouMean(name, known))
}

// partitionsOf returns the numbers of one partition, or of all if none is asked
// for.
func partitionsOf(q *store.Queue, one *int) ([]int, error) {
	if one != nil && (*one < 0 || *one >= len(q.Partitions)) {
		return nil, fmt.Errorf("queue %s has no partition %d: it has %s, numbered from 0", q.Name, *one, plural(len(q.Partitions), "partition"))
	}
	var all []int
	for p := range q.Partitions {
		if one == nil || *one == p {
			all = append(all, p)
		}
	}
	return all, nil
}
