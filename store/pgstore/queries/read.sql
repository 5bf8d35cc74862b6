-- The keys are told once each. The rows of each come in order of their names.
-- name: States :many
SELECT r.key, r.name, r.value FROM (SELECT unnest(@keys::bytea[]) AS key) k
CROSS JOIN LATERAL (
    SELECT s.key, s.name, s.value FROM key_states s
    WHERE s.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea) AND s.key = k.key
    ORDER BY s.name
) r;

-- A page of a list: rows beyond (key, name), at most max_rows, and none that more
-- than max_bytes lie before on the page. The value of a row whose name was not
-- asked for is null.
-- name: StatesPage :many
SELECT p.key, p.name, (CASE WHEN @all_names::boolean OR p.name = ANY (@names::bytea[]) THEN p.value END)::bytea AS value
FROM (
    SELECT s.key, s.name, s.value,
        sum(octet_length(s.value)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(s.value) AS before
    FROM (
        SELECT k.key, k.name, k.value FROM key_states k
        WHERE k.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
            AND (k.key, k.name) > (@after_key::bytea, @after_name::bytea) AND k.key < @upper::bytea
        ORDER BY k.key, k.name
        LIMIT @max_rows::integer
    ) s
) p
WHERE p.before <= @max_bytes::bigint;

-- StatesPage of a range without end. Whether there is one cannot be a parameter:
-- only a plain comparison ends the scan of the index at the bound.
-- name: StatesPageOpen :many
SELECT p.key, p.name, (CASE WHEN @all_names::boolean OR p.name = ANY (@names::bytea[]) THEN p.value END)::bytea AS value
FROM (
    SELECT s.key, s.name, s.value,
        sum(octet_length(s.value)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(s.value) AS before
    FROM (
        SELECT k.key, k.name, k.value FROM key_states k
        WHERE k.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
            AND (k.key, k.name) > (@after_key::bytea, @after_name::bytea)
        ORDER BY k.key, k.name
        LIMIT @max_rows::integer
    ) s
) p
WHERE p.before <= @max_bytes::bigint;

-- The next rows of each lane of a target, beyond the place given for it, or from
-- its front. Layouts, and lanes of each, without a place are looked for between
-- those that have one, so that nothing is touched of the rows that were read before
-- and are gone (D-11); a comparison of rows would not end the scan of the index at
-- the next lane, one of numbers does. Each lane gives at most max_rows rows and
-- max_bytes of payload, the first row whatever its size; one that has more gives
-- one row more, which is over and has no payload: read_rows is one more than
-- max_rows.
-- name: InboxRows :many
WITH RECURSIVE known AS (
    SELECT unnest(@layouts::bigint[]) AS layout, unnest(@producers::bigint[]) AS producer,
        unnest(@generations::bigint[]) AS generation, unnest(@numbers::bigint[]) AS number
), layout_gaps AS (
    SELECT k.layout, lead(k.layout, 1, 9223372036854775807) OVER (ORDER BY k.layout) AS until
    FROM (SELECT layout FROM known UNION SELECT -1::bigint) k
), new_layouts AS (
    SELECT f.layout, g.until FROM layout_gaps g CROSS JOIN LATERAL (
        SELECT i.layout FROM inbox i
        WHERE i.target = @target::bigint AND i.layout > g.layout AND i.layout < g.until ORDER BY i.layout LIMIT 1
    ) f
    UNION ALL
    SELECT f.layout, g.until FROM new_layouts g CROSS JOIN LATERAL (
        SELECT i.layout FROM inbox i
        WHERE i.target = @target::bigint AND i.layout > g.layout AND i.layout < g.until ORDER BY i.layout LIMIT 1
    ) f
), gaps AS (
    SELECT k.layout, k.producer, lead(k.producer, 1, 9223372036854775807) OVER (PARTITION BY k.layout ORDER BY k.producer) AS until
    FROM (
        SELECT layout, producer FROM known
        UNION SELECT layout, 0::bigint FROM known
        UNION SELECT layout, 0::bigint FROM new_layouts
    ) k
), found AS (
    SELECT g.layout, f.producer, g.until FROM gaps g CROSS JOIN LATERAL (
        SELECT i.producer FROM inbox i
        WHERE i.target = @target::bigint AND i.layout = g.layout AND i.producer > g.producer AND i.producer < g.until
        ORDER BY i.producer LIMIT 1
    ) f
    UNION ALL
    SELECT g.layout, f.producer, g.until FROM found g CROSS JOIN LATERAL (
        SELECT i.producer FROM inbox i
        WHERE i.target = @target::bigint AND i.layout = g.layout AND i.producer > g.producer AND i.producer < g.until
        ORDER BY i.producer LIMIT 1
    ) f
), lanes AS (
    SELECT layout, producer, generation, number FROM known
    UNION ALL
    SELECT layout, producer, 0::bigint, 0::bigint FROM found
)
SELECT l.layout::bigint AS layout, l.producer::bigint AS producer, r.generation, r.number, r.previous, r.count, r.consumed, r.min_event,
    r.over::boolean AS over, (CASE WHEN NOT r.over THEN r.payload END)::bytea AS payload
FROM lanes l
CROSS JOIN LATERAL (
    SELECT s.*, s.row > @max_rows::integer OR s.row > 1 AND s.bytes > @max_bytes::bigint AS over
    FROM (
        SELECT q.*, row_number() OVER v AS row, sum(octet_length(q.payload)) OVER v AS bytes
        FROM (
            SELECT i.* FROM inbox i
            WHERE i.target = @target::bigint AND i.layout = l.layout AND i.producer = l.producer
                AND (i.generation, i.number) > (l.generation, l.number)
            ORDER BY i.generation, i.number
            LIMIT @read_rows::integer
        ) q
        WINDOW v AS (ORDER BY q.generation, q.number ROWS UNBOUNDED PRECEDING)
    ) s
    WHERE s.row <= 2 OR s.bytes - octet_length(s.payload) <= @max_bytes::bigint
) r
ORDER BY l.layout, l.producer, r.generation, r.number;

-- name: AllInboxRows :many
SELECT * FROM inbox WHERE target = ANY (@targets::bigint[]) ORDER BY target, layout, producer, generation, number;

-- name: InboxSizes :many
SELECT target, sum(count - consumed)::bigint AS messages, sum(octet_length(payload))::bigint AS bytes
FROM inbox GROUP BY target ORDER BY target;

-- The first timers of each slot, beyond a place.
-- name: TimersOfSlots :many
SELECT t.slot, t.trigger, t.key, t.event
FROM generate_series(@first_slot::integer, @last_slot::integer) AS s (slot)
CROSS JOIN LATERAL (
    SELECT r.slot, r.trigger, r.key, r.event FROM timers r
    WHERE r.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
        AND r.slot = s.slot::smallint AND r.stream = @stream::bytea
        AND (r.trigger, r.key) > (@after_trigger::bigint, @after_key::bytea)
        AND r.key >= @lower::bytea AND (@open::boolean OR r.key < @upper::bytea)
    ORDER BY r.trigger, r.key
    LIMIT sqlc.narg(max_rows)::integer
) t
ORDER BY t.trigger, t.key;

-- The least event timestamp of the timers in some slots.
-- name: LeastTimerEvent :one
SELECT coalesce(min(t.event), 0)::bigint AS least, count(*) > 0 AS there
FROM generate_series(@first_slot::integer, @last_slot::integer) AS s (slot)
CROSS JOIN LATERAL (
    SELECT r.event FROM timers r
    WHERE r.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea)
        AND r.slot = s.slot::smallint AND r.stream = @stream::bytea
        AND (r.trigger, r.key) > (@after_trigger::bigint, @after_key::bytea)
        AND r.key >= @lower::bytea AND (@open::boolean OR r.key < @upper::bytea)
) t;

-- The keys are told once each. The timers of each come in order.
-- name: TimersOfKeys :many
SELECT t.key, t.trigger, t.stream FROM (SELECT unnest(@keys::bytea[]) AS key) k
CROSS JOIN LATERAL (
    SELECT r.key, r.trigger, r.stream FROM timers r
    WHERE r.computation = (SELECT c.id FROM computations c WHERE c.name = @computation::bytea) AND r.key = k.key
    ORDER BY r.trigger, r.stream
) t;
