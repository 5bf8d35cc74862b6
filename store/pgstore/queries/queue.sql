-- name: QueueNamed :one
SELECT q.id, (SELECT count(*) FROM queue_partitions p WHERE p.queue = q.id)::integer AS partitions
FROM queues q WHERE q.name = @name;

-- name: InsertQueue :exec
INSERT INTO queues (name, id) VALUES (@name, @id);

-- name: InsertQueuePartitions :exec
INSERT INTO queue_partitions (queue, partition) SELECT @queue::bigint, generate_series(0, @last_partition::integer);

-- name: Queues :many
SELECT q.name, q.id, p.partition, p.first, p.next, (p.next_bytes - p.first_bytes)::bigint AS bytes
FROM queues q JOIN queue_partitions p ON p.queue = q.id ORDER BY q.name, p.partition;

-- name: QueuePositions :many
SELECT queue, consumer, partition, position FROM queue_positions ORDER BY queue, consumer, partition;

-- One row with position -1 where there is none to read, and no row where there
-- is no such partition. The first row comes whatever its size.
-- name: QueueRows :many
SELECT q.id, coalesce(r.position, -1)::bigint AS position, coalesce(r.time, 0)::bigint AS time, r.value
FROM queues q
JOIN queue_partitions p ON p.queue = q.id AND p.partition = @partition::integer
LEFT JOIN LATERAL (
    SELECT w.position, w.time, w.value, w.bytes_before, min(w.bytes_before) OVER () AS first_before, min(w.position) OVER () AS first
    FROM (
        SELECT * FROM queue_rows x
        WHERE x.queue = q.id AND x.partition = p.partition AND x.position >= greatest(p.first, @from_position::bigint)
        ORDER BY x.position LIMIT @max_rows::integer
    ) w
) r ON r.position = r.first OR r.bytes_before + octet_length(r.value) - r.first_before <= @max_bytes::bigint
WHERE q.name = @name
ORDER BY position;

-- name: LockQueuePartition :one
SELECT p.* FROM queue_partitions p JOIN queues q ON q.id = p.queue
WHERE q.name = @name AND p.partition = @partition FOR UPDATE OF p;

-- name: BytesBefore :one
SELECT bytes_before FROM queue_rows WHERE queue = @queue AND partition = @partition AND position = @position;

-- name: SetQueueFirst :exec
UPDATE queue_partitions SET first = @first, first_bytes = @first_bytes WHERE queue = @queue AND partition = @partition;

-- name: DeleteQueueRows :execrows
DELETE FROM queue_rows r WHERE r.queue = @queue AND r.partition = @partition AND r.position IN (
    SELECT x.position FROM queue_rows x
    WHERE x.queue = @queue AND x.partition = @partition AND x.position < @before
    ORDER BY x.position LIMIT @max_rows::integer
);

-- Waits for the transactions that append to the queue.
-- name: LockQueue :one
SELECT id FROM queues WHERE name = @name FOR UPDATE;

-- name: DeleteQueue :exec
WITH q AS (DELETE FROM queues a WHERE a.id = @id),
    p AS (DELETE FROM queue_partitions b WHERE b.queue = @id),
    o AS (DELETE FROM queue_positions c WHERE c.queue = @id)
DELETE FROM queue_rows d WHERE d.queue = @id;

-- name: ForgetPipeline :exec
TRUNCATE pipeline, computations, partitions, heads, visitors, key_states, timers, inbox, queue_positions;
