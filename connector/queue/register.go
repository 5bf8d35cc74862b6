package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store"
)

// Class is the name of both the source and the sink in specs.
const Class = "queue"

// namespace stands before the names of the reference system.
const namespace = "NYT::NFlow::"

// Register adds the source and the sink under all their names.
func Register(r *connector.Registry) error {
	var errs []error
	for _, class := range []string{Class, "TQueueSource", namespace + "TQueueSource"} {
		errs = append(errs, r.AddSource(class, NewSource))
	}
	for _, class := range []string{Class, "TSyncQueueSink", namespace + "TSyncQueueSink", "TAsyncQueueSink", namespace + "TAsyncQueueSink"} {
		errs = append(errs, r.AddStoreSink(class, NewSink))
	}
	return errors.Join(errs...)
}

// find describes one queue; false: there is none of that name.
func find(ctx context.Context, s store.Queues, name string) (store.Queue, bool, error) {
	all, err := s.Queues(ctx)
	if err != nil {
		return store.Queue{}, false, fmt.Errorf("look for queue %s: %w", name, err)
	}
	q, there := among(all, name)
	return q, there, nil
}

func among(all []store.Queue, name string) (store.Queue, bool) {
	i := slices.IndexFunc(all, func(q store.Queue) bool { return q.Name == name })
	if i < 0 {
		return store.Queue{}, false
	}
	return all[i], true
}

// fits refuses a queue that does not have the number of partitions that it must
// have; 0 is any.
func fits(q store.Queue, partitions int) error {
	if partitions == 0 || len(q.Partitions) == partitions {
		return nil
	}
	return fmt.Errorf("queue %s has %s and is to have %d: their number cannot be changed; leave it out, or write to another queue",
		q.Name, plural(len(q.Partitions), "partition"), partitions)
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// missing is the error of a queue that is read and not there.
func missing(name string) error {
	return fmt.Errorf("%w: %s is not in the pipeline's store; make it with rondo queue push, or run what writes it first", store.ErrNoQueue, name)
}

// ensure makes the queue if it is not there, and describes it. partitions is how
// many it must have; 0 is as many as it has, and one for a new one.
func ensure(ctx context.Context, s store.Queues, name string, partitions int) (store.Queue, error) {
	q, there, err := find(ctx, s, name)
	switch {
	case err != nil:
		return q, err
	case there:
		return q, fits(q, partitions)
	}
	if err := s.CreateQueue(ctx, name, max(1, partitions)); err != nil {
		return q, fmt.Errorf("make queue %s: %w", name, err)
	}
	if q, there, err = find(ctx, s, name); err == nil && !there {
		err = fmt.Errorf("queue %s was dropped when it had just been made: %w", name, store.ErrNoQueue)
	}
	return q, err
}
