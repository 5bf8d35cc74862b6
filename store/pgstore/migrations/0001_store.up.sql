-- Names, keys and values are bytea: Rondo's may be any bytes, and bytea sorts
-- as Rondo compares them. Numbers of 64 bits without a sign are stored as bigint
-- with the same bits. Tables whose rows are changed in place have free room in
-- their pages (fillfactor), so that a change touches no index.

-- The last numbers given out. They never go back.
CREATE TABLE counters (
    name text PRIMARY KEY,
    last bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO counters VALUES ('generation', 0), ('partition', 0), ('queue', 0);

CREATE TABLE pipeline (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version bigint NOT NULL,
    name bytea NOT NULL,
    static bytea NOT NULL,
    dynamic bytea NOT NULL,
    loaded bytea NOT NULL,
    run_computations bytea[] NOT NULL,
    run_streams bytea[] NOT NULL,
    run_ids bigint[] NOT NULL,
    run_periods bigint[] NOT NULL
);

-- Short numbers for the names of computations, in the keys of states and timers.
CREATE TABLE computations (
    id integer PRIMARY KEY,
    name bytea NOT NULL UNIQUE
);

-- The layout. A commit locks the row of its own partition and changes it only
-- when it completes the partition.
CREATE TABLE partitions (
    id bigint PRIMARY KEY,
    computation bytea NOT NULL,
    kind smallint NOT NULL,
    state smallint NOT NULL,
    generation bigint NOT NULL,
    layout bigint NOT NULL,
    lower bigint NOT NULL,
    upper bigint NOT NULL,
    open boolean NOT NULL,
    name bytea NOT NULL,
    routing_computations bytea[] NOT NULL,
    routing_layouts bigint[] NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- What every epoch changes of its partition: one row each, which has no index
-- beside its key. A null is what was never told.
CREATE TABLE heads (
    partition bigint PRIMARY KEY,
    -- The last number of inbox rows, of the generation that produced them.
    produced_generation bigint NOT NULL DEFAULT 0,
    produced_number bigint NOT NULL DEFAULT 0,
    source_offset bytea,
    sink_position bytea,
    report_generation bigint,
    report_layout bigint,
    report_computation bytea,
    report_streams bytea[],
    report_watermarks bigint[],
    report_max_events bigint[],
    report_states smallint[],
    report_targets bigint[],
    report_numbers bigint[],
    epochs bigint,
    messages bigint,
    timers bigint,
    visits bigint,
    passes bigint,
    count_names bytea[],
    count_values bigint[]
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Coverage by bucket, pass records (slot -1) and pass summaries (slot -2).
CREATE TABLE visitors (
    partition bigint,
    stream bytea,
    slot integer,
    value bytea NOT NULL,
    PRIMARY KEY (partition, stream, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE key_states (
    computation integer,
    key bytea,
    name bytea,
    value bytea NOT NULL,
    PRIMARY KEY (computation, key, name)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2);

-- Timers lie by slot, the first bits of the key's hash, and within it in order of
-- trigger. The second index finds those of a key.
CREATE TABLE timers (
    computation integer,
    slot smallint,
    stream bytea,
    trigger bigint,
    key bytea,
    event bigint NOT NULL,
    PRIMARY KEY (computation, slot, stream, trigger, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX timers_of_key ON timers (computation, key, trigger, stream);

-- Rows come and go like in a queue: each is written once, at the end of its lane,
-- and removed from the front. What is removed is vacuumed by number, not by share.
CREATE TABLE inbox (
    target bigint,
    layout bigint,
    producer bigint,
    generation bigint,
    number bigint,
    previous bigint NOT NULL,
    count integer NOT NULL,
    consumed integer NOT NULL,
    min_event bigint NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (target, layout, producer, generation, number)
) WITH (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_cost_delay = 0
);
-- Payloads live for a moment: to compress them costs more than it saves.
ALTER TABLE inbox ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE queues (
    name bytea PRIMARY KEY,
    id bigint NOT NULL UNIQUE
);

-- A queue partition holds the rows [first, next). The bytes of all values ever
-- appended before those offsets are first_bytes and next_bytes.
CREATE TABLE queue_partitions (
    queue bigint,
    partition integer,
    first bigint NOT NULL DEFAULT 0,
    next bigint NOT NULL DEFAULT 0,
    first_bytes bigint NOT NULL DEFAULT 0,
    next_bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, partition)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE queue_positions (
    queue bigint,
    consumer bytea,
    partition integer,
    position bigint NOT NULL,
    PRIMARY KEY (queue, consumer, partition)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- bytes_before is what all values ever appended before the row come to.
CREATE TABLE queue_rows (
    queue bigint,
    partition integer,
    position bigint,
    time bigint NOT NULL,
    bytes_before bigint NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (queue, partition, position)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- The fence: locks the partition's row, and nothing else, until the transaction
-- ends, and raises an error unless the epoch may be committed. Who is not patient
-- does not wait for the row. All errors of
-- Rondo's own have a class RO: RO001 fenced, RO002 conflict, RO003 no such queue,
-- RO004 a defect of the caller.
CREATE FUNCTION begin_epoch(
    of_partition bigint, of_generation bigint, of_computation bytea,
    routed bytea[], layouts bigint[], first_number bigint, patient boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p partitions;
    h record;
BEGIN
    IF patient THEN
        SELECT * INTO p FROM partitions WHERE id = of_partition FOR UPDATE;
    ELSE
        SELECT * INTO p FROM partitions WHERE id = of_partition FOR UPDATE NOWAIT;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no partition %', of_partition USING ERRCODE = 'RO001';
    ELSIF p.generation <> of_generation OR of_generation = 0 THEN
        RAISE EXCEPTION 'partition % has generation %, not %', p.id, p.generation, of_generation USING ERRCODE = 'RO001';
    ELSIF p.computation <> of_computation THEN
        RAISE EXCEPTION 'partition % belongs to another computation', p.id USING ERRCODE = 'RO004';
    END IF;
    IF first_number > 0 THEN
        SELECT produced_generation AS generation, produced_number AS number INTO h FROM heads WHERE partition = p.id;
        IF h.generation = of_generation AND h.number >= first_number THEN
            RAISE EXCEPTION 'partition % produces row number % after %', p.id, first_number, h.number USING ERRCODE = 'RO004';
        END IF;
    END IF;
    IF EXISTS (
        SELECT FROM unnest(routed, layouts) u (computation, layout)
        WHERE NOT EXISTS (
            SELECT FROM unnest(p.routing_computations, p.routing_layouts) s (computation, layout)
            WHERE s.computation = u.computation AND s.layout = u.layout
        )
    ) THEN
        RAISE EXCEPTION 'rows of partition % were routed by a layout that is not the stored one', p.id USING ERRCODE = 'RO002';
    END IF;
END $$;

-- Waits for the commit in flight of the partition, and gives it a new generation.
-- It is a statement, which is a transaction, of its own: nobody waits for a client
-- that stops between the counter's row and the end (D-4).
CREATE FUNCTION raise_generation(of_partition bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    raised bigint;
BEGIN
    PERFORM FROM partitions WHERE id = of_partition FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no partition %', of_partition USING ERRCODE = 'RO001';
    END IF;
    UPDATE counters SET last = last + 1 WHERE name = 'generation' RETURNING last INTO raised;
    UPDATE partitions SET generation = raised WHERE id = of_partition;
    RETURN raised;
END $$;

-- Removes inbox rows of a partition whose row is locked, or moves their consumed
-- prefix on. The rows are read again only to say what was wrong. Here and in other
-- statements, OFFSET 0 in a lateral subquery keeps the planner from turning
-- "look each of these up" into "read the table and compare", which its statistics
-- of a table that was empty a moment ago make it think is cheaper.
CREATE FUNCTION take_rows(
    of_target bigint, layouts bigint[], producers bigint[], generations bigint[], numbers bigint[],
    froms integer[], tos integer[], removes boolean[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    removed bigint;
    moved bigint := 0;
    bad record;
BEGIN
    DELETE FROM inbox WHERE ctid = ANY (ARRAY(
        SELECT r.ctid
        FROM unnest(layouts, producers, generations, numbers, froms, tos, removes)
            t (layout, producer, generation, number, from_, to_, remove)
        CROSS JOIN LATERAL (
            SELECT i.ctid FROM inbox i
            WHERE i.target = of_target AND i.layout = t.layout AND i.producer = t.producer
                AND i.generation = t.generation AND i.number = t.number AND i.consumed = t.from_ AND i.count = t.to_
            OFFSET 0
        ) r
        WHERE t.remove
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF removed < cardinality(numbers) THEN
        UPDATE inbox i SET consumed = t.to_
        FROM unnest(layouts, producers, generations, numbers, froms, tos, removes)
            t (layout, producer, generation, number, from_, to_, remove)
        CROSS JOIN LATERAL (
            SELECT m.ctid FROM inbox m
            WHERE m.target = of_target AND m.layout = t.layout AND m.producer = t.producer
                AND m.generation = t.generation AND m.number = t.number AND m.consumed = t.from_ AND m.count > t.to_
            OFFSET 0
        ) r
        WHERE NOT t.remove AND i.ctid = r.ctid;
        GET DIAGNOSTICS moved = ROW_COUNT;
    END IF;
    IF removed + moved = cardinality(numbers) THEN
        RETURN;
    END IF;
    -- Rows that were taken above are seen as they are now: the right ones have the
    -- prefix to_, or are gone.
    SELECT t.*, i.count, i.consumed INTO bad
    FROM unnest(layouts, producers, generations, numbers, froms, tos, removes) WITH ORDINALITY
        t (layout, producer, generation, number, from_, to_, remove, ord)
    JOIN inbox i ON i.target = of_target AND i.layout = t.layout AND i.producer = t.producer
        AND i.generation = t.generation AND i.number = t.number
    WHERE i.consumed = t.from_
    ORDER BY t.ord LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'inbox row % of partition %, generation %, has % messages: taking up to % with remove=% is not valid',
            bad.number, bad.producer, bad.generation, bad.count, bad.to_, bad.remove USING ERRCODE = 'RO004';
    END IF;
    RAISE EXCEPTION 'an inbox row that partition % takes is not there, or has another prefix', of_target USING ERRCODE = 'RO002';
END $$;

-- Appends rows to queues in the order given, and tells positions. The locks are
-- taken in the order of (queue, partition), and only where rows are appended. A
-- lock on the queue itself, shared, keeps it from being dropped meanwhile.
CREATE FUNCTION append_rows(
    of_queues bytea[], of_partitions integer[], times bigint[], row_values bytea[],
    told_queues bytea[], told_consumers bytea[], told_partitions integer[], told_positions bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM FROM queues WHERE name = ANY (of_queues || told_queues) ORDER BY name FOR KEY SHARE;
    FOR place IN SELECT DISTINCT queue, partition FROM unnest(of_queues, of_partitions) r (queue, partition) ORDER BY queue, partition LOOP
        PERFORM FROM queue_partitions p
        WHERE p.queue = (SELECT id FROM queues WHERE name = place.queue) AND p.partition = place.partition FOR UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'partition % of queue "%"', place.partition, encode(place.queue, 'escape') USING ERRCODE = 'RO003';
        END IF;
    END LOOP;
    IF cardinality(of_queues) > 0 THEN
        INSERT INTO queue_rows (queue, partition, position, time, bytes_before, value)
        SELECT h.queue, r.partition,
            h.next + row_number() OVER w - 1,
            r.time,
            h.next_bytes + sum(octet_length(r.value)) OVER w - octet_length(r.value),
            r.value
        FROM unnest(of_queues, of_partitions, times, row_values) WITH ORDINALITY r (queue, partition, time, value, ord)
        CROSS JOIN LATERAL (
            SELECT p.queue, p.next, p.next_bytes FROM queue_partitions p
            WHERE p.queue = (SELECT id FROM queues WHERE name = r.queue) AND p.partition = r.partition
            OFFSET 0
        ) h
        WINDOW w AS (PARTITION BY r.queue, r.partition ORDER BY r.ord);
        UPDATE queue_partitions p SET next = p.next + n.rows, next_bytes = p.next_bytes + n.bytes
        FROM (
            SELECT r.queue, r.partition, count(*) AS rows, sum(octet_length(r.value)) AS bytes
            FROM unnest(of_queues, of_partitions, row_values) r (queue, partition, value)
            GROUP BY r.queue, r.partition
        ) n
        JOIN queues q ON q.name = n.queue
        WHERE p.queue = q.id AND p.partition = n.partition;
    END IF;
    INSERT INTO queue_positions (queue, consumer, partition, position)
    SELECT q.id, t.consumer, t.partition, t.position
    FROM unnest(told_queues, told_consumers, told_partitions, told_positions) t (queue, consumer, partition, position)
    JOIN queues q ON q.name = t.queue
    JOIN queue_partitions p ON p.queue = q.id AND p.partition = t.partition
    ORDER BY q.name, t.consumer, t.partition
    ON CONFLICT (queue, consumer, partition) DO UPDATE SET position = excluded.position;
END $$;
