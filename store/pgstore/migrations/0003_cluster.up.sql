-- Workers tell here that they live. A row is changed at every beat.
CREATE TABLE workers (
    id text PRIMARY KEY,
    worker_group text NOT NULL,
    build text NOT NULL,
    info bytea NOT NULL,
    joined timestamptz NOT NULL,
    seen timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Who is controller: whoever holds the lease, until it ends. Every controller's
-- transaction locks the row.
CREATE TABLE lease (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    holder text NOT NULL,
    term bigint NOT NULL,
    until timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO lease VALUES (true, '', 0, '-infinity');

INSERT INTO counters VALUES ('assignment', 0);
ALTER TABLE partitions ADD COLUMN worker text NOT NULL DEFAULT '';

-- The fence of a controller: locks the lease, and raises an error unless the term
-- is its present one.
CREATE FUNCTION govern(of_term bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    l lease;
BEGIN
    SELECT * INTO l FROM lease FOR UPDATE;
    IF l.term <> of_term OR l.until < clock_timestamp() THEN
        RAISE EXCEPTION 'the lease has term % and is held by "%": term % is over', l.term, l.holder, of_term USING ERRCODE = 'RO001';
    END IF;
END $$;

-- Ends the sessions of these names.
CREATE FUNCTION end_sessions(names text[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
    WHERE a.application_name = ANY (names) AND a.datname = current_database() AND a.pid <> pg_backend_pid();
$$;

-- As before, and a worker gets none of a partition that belongs to another.
DROP FUNCTION raise_generation(bigint);
CREATE FUNCTION raise_generation(of_partition bigint, of_worker text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    raised bigint;
    owner text;
BEGIN
    SELECT worker INTO owner FROM partitions WHERE id = of_partition FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no partition %', of_partition USING ERRCODE = 'RO001';
    ELSIF of_worker <> '' AND owner <> of_worker THEN
        RAISE EXCEPTION 'partition % belongs to worker "%", not "%"', of_partition, owner, of_worker USING ERRCODE = 'RO001';
    END IF;
    UPDATE counters SET last = last + 1 WHERE name = 'generation' RETURNING last INTO raised;
    UPDATE partitions SET generation = raised WHERE id = of_partition;
    RETURN raised;
END $$;
