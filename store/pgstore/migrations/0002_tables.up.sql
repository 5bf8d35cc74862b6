-- Tables of users, sorted by key. What a row's bytes mean is told by the schema,
-- which the server does not read.
INSERT INTO counters VALUES ('table', 0);

CREATE TABLE tables (
    id bigint PRIMARY KEY,
    name bytea NOT NULL UNIQUE,
    schema bytea NOT NULL
);

CREATE TABLE table_rows (
    table_id bigint,
    key bytea,
    value bytea NOT NULL,
    PRIMARY KEY (table_id, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2);

-- Tables that are no more, as long as rows of theirs are left: ids are never used
-- again, and many rows are removed a few at a time.
CREATE TABLE dropped_tables (
    id bigint PRIMARY KEY
);

-- Writes rows, or deletes those whose value is empty. Rows that are there are
-- locked in order of their keys before they are compared; one that has to be absent
-- and comes meanwhile is a conflict too. A lock on the table itself, shared, keeps
-- it from being dropped meanwhile. RO005: no such table.
CREATE FUNCTION write_rows(
    of_tables bigint[], row_keys bytea[], row_values bytea[], checks boolean[], were bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    bad record;
    wanted bigint;
    made bigint;
BEGIN
    PERFORM FROM tables WHERE id = ANY (of_tables) ORDER BY id FOR KEY SHARE;
    SELECT u.id INTO bad FROM unnest(of_tables) u (id) WHERE NOT EXISTS (SELECT FROM tables t WHERE t.id = u.id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'number %', bad.id USING ERRCODE = 'RO005';
    END IF;
    PERFORM FROM (SELECT u.table_id, u.key FROM unnest(of_tables, row_keys) u (table_id, key) ORDER BY u.table_id, u.key) w
    CROSS JOIN LATERAL (
        SELECT r.key FROM table_rows r WHERE r.table_id = w.table_id AND r.key = w.key OFFSET 0 FOR UPDATE
    ) l;
    SELECT w.table_id, w.key INTO bad
    FROM unnest(of_tables, row_keys, checks, were) w (table_id, key, checked, was)
    LEFT JOIN LATERAL (
        SELECT r.value FROM table_rows r WHERE r.table_id = w.table_id AND r.key = w.key OFFSET 0
    ) s ON true
    WHERE w.checked AND coalesce(s.value, '') <> w.was LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'row % of table % has changed since it was read', encode(bad.key, 'hex'), bad.table_id USING ERRCODE = 'RO002';
    END IF;
    DELETE FROM table_rows WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM unnest(of_tables, row_keys, row_values) w (table_id, key, value)
        CROSS JOIN LATERAL (
            SELECT r.ctid FROM table_rows r WHERE r.table_id = w.table_id AND r.key = w.key OFFSET 0
        ) s
        WHERE w.value = ''
    ));
    SELECT count(*) INTO wanted FROM unnest(row_values, checks, were) w (value, checked, was)
    WHERE w.value <> '' AND w.checked AND w.was = '';
    IF wanted > 0 THEN
        INSERT INTO table_rows (table_id, key, value)
        SELECT w.table_id, w.key, w.value FROM unnest(of_tables, row_keys, row_values, checks, were) w (table_id, key, value, checked, was)
        WHERE w.value <> '' AND w.checked AND w.was = '' ORDER BY w.table_id, w.key
        ON CONFLICT (table_id, key) DO NOTHING;
        GET DIAGNOSTICS made = ROW_COUNT;
        IF made < wanted THEN
            RAISE EXCEPTION 'a row has been made since it was read as absent' USING ERRCODE = 'RO002';
        END IF;
    END IF;
    INSERT INTO table_rows (table_id, key, value)
    SELECT w.table_id, w.key, w.value FROM unnest(of_tables, row_keys, row_values, checks, were) w (table_id, key, value, checked, was)
    WHERE w.value <> '' AND NOT (w.checked AND w.was = '') ORDER BY w.table_id, w.key
    ON CONFLICT (table_id, key) DO UPDATE SET value = excluded.value;
END $$;
