-- What users' own tables look like. Their rows are read and written by statements
-- that are made when a table is found, since its columns are not known before.

-- name: TableByID :one
SELECT * FROM tables WHERE id = @id;

-- The parts of a name as PostgreSQL reads it: quoted or not.
-- name: ParseName :one
SELECT parse_ident(@name::text)::text[] AS parts;

-- name: HoldTables :exec
SELECT hold_tables(@tables::bigint[]);

-- name: Relation :one
SELECT c.oid::bigint AS id, (CASE
        WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid) THEN 'rules'
        WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid) THEN 'parent'
        ELSE c.relkind::text END)::text AS kind, row_security_active(c.oid) AS row_security,
    has_schema_privilege(n.oid, 'USAGE') AS may_use,
    has_table_privilege(c.oid, 'SELECT') AS may_select, has_table_privilege(c.oid, 'INSERT') AS may_insert,
    has_table_privilege(c.oid, 'UPDATE') AS may_update, has_table_privilege(c.oid, 'DELETE') AS may_delete,
    current_user::text AS me, current_setting('server_encoding')::text AS encoding
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = @schema::text AND c.relname = @name::text;

-- Domains count as what they are made of.
-- name: RelationColumns :many
SELECT a.attnum::integer AS number, a.attname::text AS name, a.attnotnull AS required,
    (a.atthasdef OR a.attidentity <> '' OR t.typdefault IS NOT NULL)::boolean AS filled, -- generated ones have a default
    a.attgenerated::text AS generated, a.attidentity::text AS identity,
    format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)::text AS type,
    coalesce(b.typtype, t.typtype)::text AS type_kind,
    coalesce((SELECT l.collisdeterministic FROM pg_catalog.pg_collation l WHERE l.oid = a.attcollation), true)::boolean AS deterministic
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = (@id::bigint)::oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;

-- Columns that an index is of, those of expressions being 0.
-- name: RelationIndexes :many
SELECT (i.indisunique AND i.indimmediate)::boolean AS keeps_unique,
    ARRAY(SELECT k.number FROM unnest(i.indkey::smallint[]) WITH ORDINALITY k (number, place) WHERE k.place <= i.indnkeyatts ORDER BY k.place)::smallint[] AS columns
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'
WHERE i.indrelid = (@id::bigint)::oid AND i.indisvalid AND i.indpred IS NULL;

-- The triggers that may keep rows of a table from being written: those before each row.
-- name: RelationGuards :many
SELECT g.tgname::text AS name FROM pg_catalog.pg_trigger g
JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = @schema::text AND c.relname = @name::text AND NOT g.tgisinternal AND g.tgenabled <> 'D'
    AND g.tgtype & 3 = 3 -- TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE
ORDER BY g.tgname;

-- Later statements of the transaction wait no longer for a lock.
-- name: Hurry :exec
SELECT set_config('lock_timeout', @milliseconds::text, true);
