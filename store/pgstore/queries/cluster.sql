-- name: PutWorker :exec
INSERT INTO workers (id, worker_group, build, info, joined, seen)
VALUES (@id, @worker_group, @build, @info, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET worker_group = excluded.worker_group, build = excluded.build, info = excluded.info, seen = excluded.seen;

-- Keeps the lease, or takes it from whoever let it end.
-- name: TakeLease :exec
UPDATE lease SET holder = @worker, term = term + (holder <> @worker)::integer, until = clock_timestamp() + make_interval(secs => @seconds::double precision)
WHERE holder = @worker OR until < clock_timestamp();

-- name: Look :one
SELECT clock_timestamp()::timestamptz AS now, l.holder, l.term,
    coalesce((SELECT p.version FROM pipeline p), 0)::bigint AS pipeline,
    (SELECT c.last FROM counters c WHERE c.name = 'partition')::bigint AS layout,
    (SELECT c.last FROM counters c WHERE c.name = 'assignment')::bigint AS assignment,
    EXISTS (SELECT 1 FROM partitions p WHERE p.state <> 2)::integer AS unfinished
FROM lease l;

-- name: Workers :many
SELECT id, worker_group, build, info, joined, seen FROM workers ORDER BY id;

-- name: Govern :exec
SELECT govern(@term::bigint);

-- The rows of partitions that change hands, in the order in which all lock them.
-- name: LockPartitions :many
SELECT id, worker FROM partitions WHERE id = ANY (@ids::bigint[]) ORDER BY id FOR UPDATE;

-- name: LockPartitionsOf :many
SELECT id FROM partitions WHERE worker = ANY (@workers::text[]) ORDER BY id FOR UPDATE;

-- Each gets a generation of its own, up to the last one that the counter gave.
-- name: Reassign :exec
UPDATE partitions p SET worker = u.worker, generation = u.generation
FROM (SELECT unnest(@ids::bigint[]) AS id, unnest(@workers::text[]) AS worker, unnest(@generations::bigint[]) AS generation) u
WHERE p.id = u.id;

-- name: ForgetWorkers :exec
DELETE FROM workers WHERE id = ANY (@ids::text[]);

-- name: FreeLease :exec
UPDATE lease SET until = '-infinity' WHERE holder = @worker;

-- Ends what a worker that is taken for dead has under way: it may be frozen while
-- it holds locks.
-- name: EndSessions :exec
SELECT end_sessions(@names::text[]);
