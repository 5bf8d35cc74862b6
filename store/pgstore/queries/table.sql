-- name: TableNamed :one
SELECT * FROM tables WHERE name = @name;

-- name: InsertTable :exec
INSERT INTO tables (id, name, schema, relation) VALUES (@id, @name, @schema, @relation);

-- name: Tables :many
SELECT * FROM tables ORDER BY name;

-- Waits for the transactions that write rows.
-- name: LockTables :many
SELECT * FROM tables WHERE id = @id OR name = @name ORDER BY id FOR UPDATE;

-- name: RenameTable :exec
UPDATE tables SET name = @name WHERE id = @id;

-- name: DeleteTable :exec
WITH t AS (DELETE FROM tables a WHERE a.id = @id)
INSERT INTO dropped_tables (id) VALUES (@id);

-- name: DroppedTables :many
SELECT id FROM dropped_tables ORDER BY id;

-- name: DeleteTableRows :execrows
DELETE FROM table_rows r WHERE r.table_id = @id AND r.key IN (
    SELECT x.key FROM table_rows x WHERE x.table_id = @id ORDER BY x.key LIMIT @max_rows::integer
);

-- name: ForgetDropped :exec
DELETE FROM dropped_tables WHERE id = @id;

-- name: TableExists :one
SELECT EXISTS (SELECT FROM tables WHERE id = @id);

-- name: WriteRows :exec
SELECT write_rows(@tables::bigint[], @keys::bytea[], @vals::bytea[], @checks::boolean[], @were::bytea[]);

-- The keys are told once each. A row with an empty key says that the table is
-- there.
-- name: TableRows :many
SELECT r.key, r.value FROM (SELECT unnest(@keys::bytea[]) AS key) k
CROSS JOIN LATERAL (
    SELECT s.key, s.value FROM table_rows s WHERE s.table_id = @id AND s.key = k.key OFFSET 0
) r
UNION ALL SELECT ''::bytea, ''::bytea FROM tables t WHERE t.id = @id;

-- A page of a list, as StatesPage.
-- name: RowsPage :many
SELECT p.key, p.value FROM (
    SELECT s.key, s.value,
        sum(octet_length(s.value)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(s.value) AS before
    FROM (
        SELECT r.key, (CASE WHEN @keys_only::boolean THEN ''::bytea ELSE r.value END)::bytea AS value FROM table_rows r
        WHERE r.table_id = @id AND r.key >= @from_key::bytea AND r.key < @upper::bytea
        ORDER BY r.key
        LIMIT @max_rows::integer
    ) s
) p
WHERE p.before <= @max_bytes::bigint;

-- RowsPage of a range without end, as StatesPageOpen.
-- name: RowsPageOpen :many
SELECT p.key, p.value FROM (
    SELECT s.key, s.value,
        sum(octet_length(s.value)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(s.value) AS before
    FROM (
        SELECT r.key, (CASE WHEN @keys_only::boolean THEN ''::bytea ELSE r.value END)::bytea AS value FROM table_rows r
        WHERE r.table_id = @id AND r.key >= @from_key::bytea
        ORDER BY r.key
        LIMIT @max_rows::integer
    ) s
) p
WHERE p.before <= @max_bytes::bigint;
