package store

import (
	"errors"
	"fmt"
)

// ValidateQueue checks a queue that is to be made. Stores call it first.
func ValidateQueue(name string, partitions int) error {
	if err := checkName("queue", name); err != nil {
		return err
	}
	if partitions < 1 || partitions > MaxQueuePartitions {
		return fmt.Errorf("queue %q cannot have %d partitions: it has 1 to %d", name, partitions, MaxQueuePartitions)
	}
	return nil
}

// ValidateAppends checks what can be said of rows without the queues. All
// problems are reported. Stores call it for rows that are pushed;
// Commit.Validate, for those of an epoch.
func ValidateAppends(rows []QueueAppend) error {
	var problems []error
	for i := range rows {
		r := &rows[i]
		if err := checkQueuePartition(r.Queue, r.Partition); err != nil {
			problems = append(problems, fmt.Errorf("appended row %d: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

func checkQueuePartition(queue string, partition int) error {
	if partition < 0 {
		return fmt.Errorf("queue %q has no partition %d", queue, partition)
	}
	return checkName("queue", queue)
}

func (p *QueuePosition) check() error {
	if err := checkQueuePartition(p.Queue, p.Partition); err != nil {
		return fmt.Errorf("a position of consumer %q: %w", p.Consumer, err)
	}
	return checkName("consumer", p.Consumer)
}
