-- Removes the store with everything in it.
DROP FUNCTION append_rows, take_rows, raise_generation, begin_epoch;
DROP TABLE queue_rows, queue_positions, queue_partitions, queues, inbox, timers, key_states, visitors, heads,
    partitions, computations, pipeline, counters;
