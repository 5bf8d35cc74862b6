-- name: Pipeline :one
SELECT version, name, static, dynamic, loaded, run_computations, run_streams, run_ids, run_periods, target, aimed FROM pipeline;

-- name: InsertPipeline :execrows
INSERT INTO pipeline (version, name, static, dynamic, loaded, run_computations, run_streams, run_ids, run_periods, target, aimed)
VALUES (@version, @name, @static, @dynamic, @loaded, @run_computations, @run_streams, @run_ids, @run_periods, @target, @aimed)
ON CONFLICT DO NOTHING;

-- name: UpdatePipeline :execrows
UPDATE pipeline SET version = @version, name = @name, static = @static, dynamic = @dynamic, loaded = @loaded,
    run_computations = @run_computations, run_streams = @run_streams, run_ids = @run_ids, run_periods = @run_periods, target = @target, aimed = @aimed
WHERE version = @former;

-- The numbers of a counter are given out one transaction after the other.
-- name: Count :one
UPDATE counters SET last = last + @n::bigint WHERE name = @name RETURNING last;

-- name: InsertComputation :execrows
INSERT INTO computations (id, name)
SELECT coalesce(max(c.id), 0) + 1, @name::bytea FROM computations c
ON CONFLICT DO NOTHING;

-- name: Partitions :many
SELECT * FROM partitions ORDER BY id;

-- name: Partition :one
SELECT * FROM partitions WHERE id = @id;

-- name: RaiseGeneration :one
SELECT raise_generation(@id::bigint, @worker::text)::bigint AS generation;

-- Those of a computation, those that write to it and those that it writes to, in
-- the order in which all transactions lock them.
-- name: LockConcerned :many
SELECT p.id FROM partitions p
WHERE p.computation = @computation OR @computation = ANY (p.routing_computations)
    OR p.computation IN (SELECT unnest(w.routing_computations) FROM partitions w WHERE w.computation = @computation)
ORDER BY p.id FOR UPDATE OF p;

-- name: InsertPartition :exec
INSERT INTO partitions (id, computation, kind, state, generation, layout, lower, upper, open, name, routing_computations, routing_layouts)
VALUES (@id, @computation, @kind, @state, 0, @layout, @lower, @upper, @open, @name, @routing_computations, @routing_layouts);

-- name: InsertHead :exec
INSERT INTO heads (partition) VALUES (@partition);

-- name: SetRouting :exec
UPDATE partitions SET routing_layouts = @routing_layouts WHERE id = @id;

-- name: DeletePartitions :exec
WITH p AS (DELETE FROM partitions WHERE id = ANY (@ids::bigint[])),
    h AS (DELETE FROM heads WHERE partition = ANY (@ids::bigint[])),
    v AS (DELETE FROM visitors WHERE partition = ANY (@ids::bigint[]))
DELETE FROM inbox WHERE target = ANY (@ids::bigint[]);

-- name: Heads :many
SELECT * FROM heads WHERE partition = ANY (@partitions::bigint[]) ORDER BY partition;

-- name: Reports :many
SELECT * FROM heads WHERE report_generation IS NOT NULL ORDER BY partition;

-- name: ReportsOf :many
SELECT * FROM heads WHERE partition = ANY (@partitions::bigint[]) AND report_generation IS NOT NULL ORDER BY partition;

-- name: Totals :many
SELECT * FROM heads WHERE epochs IS NOT NULL ORDER BY partition;

-- name: Visitors :many
SELECT * FROM visitors WHERE partition = ANY (@partitions::bigint[]) ORDER BY partition, stream, slot;
