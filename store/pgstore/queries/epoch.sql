-- The statements of an epoch. They are sent together, and are one transaction.

-- name: BeginEpoch :exec
SELECT begin_epoch(@partition::bigint, @generation::bigint, @computation::bytea, @routed::bytea[], @layouts::bigint[], @first_number::bigint, @patient::boolean);

-- name: TakeRows :exec
SELECT take_rows(@target::bigint, @layouts::bigint[], @producers::bigint[], @generations::bigint[], @numbers::bigint[],
    @froms::integer[], @tos::integer[], @removes::boolean[]);

-- name: PutStates :exec
INSERT INTO key_states (computation, key, name, value)
SELECT (SELECT c.id FROM computations c WHERE c.name = @computation::bytea),
    unnest(@keys::bytea[]), unnest(@names::bytea[]), unnest(@vals::bytea[])
ON CONFLICT (computation, key, name) DO UPDATE SET value = excluded.value;

-- name: DeleteStates :exec
DELETE FROM key_states WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM (SELECT unnest(@keys::bytea[]) AS key, unnest(@names::bytea[]) AS name) gone
    CROSS JOIN LATERAL (
        SELECT r.ctid FROM key_states r
        WHERE r.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
            AND r.key = gone.key AND r.name = gone.name
        OFFSET 0
    ) s
));

-- name: DeleteTimers :exec
DELETE FROM timers WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM (
        SELECT unnest(@slots::smallint[]) AS slot, unnest(@streams::bytea[]) AS stream,
            unnest(@triggers::bigint[]) AS trigger, unnest(@keys::bytea[]) AS key
    ) gone
    CROSS JOIN LATERAL (
        SELECT r.ctid FROM timers r
        WHERE r.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
            AND r.slot = gone.slot AND r.stream = gone.stream AND r.trigger = gone.trigger AND r.key = gone.key
        OFFSET 0
    ) t
));

-- A timer that is there keeps the smaller event timestamp.
-- name: PutTimers :exec
INSERT INTO timers (computation, slot, stream, trigger, key, event)
SELECT (SELECT c.id FROM computations c WHERE c.name = @computation::bytea),
    unnest(@slots::smallint[]), unnest(@streams::bytea[]), unnest(@triggers::bigint[]), unnest(@keys::bytea[]), unnest(@events::bigint[])
ON CONFLICT (computation, slot, stream, trigger, key) DO UPDATE SET event = excluded.event
WHERE excluded.event < timers.event;

-- name: PutVisitors :exec
INSERT INTO visitors (partition, stream, slot, value)
SELECT @partition::bigint, unnest(@streams::bytea[]), unnest(@slots::integer[]), unnest(@vals::bytea[])
ON CONFLICT (partition, stream, slot) DO UPDATE SET value = excluded.value;

-- name: DeleteVisitors :exec
DELETE FROM visitors v USING (SELECT unnest(@streams::bytea[]) AS stream, unnest(@slots::integer[]) AS slot) gone
WHERE v.partition = @partition::bigint AND v.stream = gone.stream AND v.slot = gone.slot;

-- name: ProduceRows :exec
INSERT INTO inbox (target, layout, producer, generation, number, previous, count, consumed, min_event, payload)
SELECT unnest(@targets::bigint[]), unnest(@layouts::bigint[]), unnest(@producers::bigint[]), unnest(@generations::bigint[]),
    unnest(@numbers::bigint[]), unnest(@previous::bigint[]), unnest(@counts::integer[]), 0,
    unnest(@min_events::bigint[]), unnest(@payloads::bytea[]);

-- What is null stays as it is.
-- name: RecordEpoch :exec
UPDATE heads SET
    produced_generation = coalesce(sqlc.narg(produced_generation), produced_generation),
    produced_number = coalesce(sqlc.narg(produced_number), produced_number),
    source_offset = coalesce(sqlc.narg(source_offset), source_offset),
    sink_position = coalesce(sqlc.narg(sink_position), sink_position),
    report_generation = coalesce(sqlc.narg(report_generation), report_generation),
    report_layout = coalesce(sqlc.narg(report_layout), report_layout),
    report_computation = coalesce(sqlc.narg(report_computation), report_computation),
    report_streams = coalesce(sqlc.narg(report_streams), report_streams),
    report_watermarks = coalesce(sqlc.narg(report_watermarks), report_watermarks),
    report_max_events = coalesce(sqlc.narg(report_max_events), report_max_events),
    report_states = coalesce(sqlc.narg(report_states), report_states),
    report_targets = coalesce(sqlc.narg(report_targets), report_targets),
    report_numbers = coalesce(sqlc.narg(report_numbers), report_numbers),
    epochs = coalesce(sqlc.narg(epochs), epochs),
    messages = coalesce(sqlc.narg(messages), messages),
    timers = coalesce(sqlc.narg(timers), timers),
    visits = coalesce(sqlc.narg(visits), visits),
    passes = coalesce(sqlc.narg(passes), passes),
    count_names = coalesce(sqlc.narg(count_names), count_names),
    count_values = coalesce(sqlc.narg(count_values), count_values)
WHERE partition = @partition;

-- A partition that is done keeps its pass summaries only (KV-37).
-- name: CompletePartition :exec
WITH v AS (DELETE FROM visitors WHERE partition = @id AND slot <> -2)
UPDATE partitions SET state = 2 WHERE id = @id;

-- name: AppendRows :exec
SELECT append_rows(@queues::bytea[], @partitions::integer[], @times::bigint[], @vals::bytea[],
    @told_queues::bytea[], @told_consumers::bytea[], @told_partitions::integer[], @told_positions::bigint[]);
