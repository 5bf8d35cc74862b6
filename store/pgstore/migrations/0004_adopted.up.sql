-- Tables that users made themselves in the same database. Relation has the names of
-- its schema and of the table; null for one whose rows lie in table_rows.
ALTER TABLE tables ADD COLUMN relation text[];

-- A lock on the tables themselves, shared, keeps them from being dropped meanwhile.
-- RO005: no such table.
CREATE FUNCTION hold_tables(of_tables bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    missing bigint;
BEGIN
    PERFORM FROM tables WHERE id = ANY (of_tables) ORDER BY id FOR KEY SHARE;
    SELECT u.id INTO missing FROM unnest(of_tables) u (id) WHERE NOT EXISTS (SELECT FROM tables t WHERE t.id = u.id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'number %', missing USING ERRCODE = 'RO005';
    END IF;
END $$;

-- True, or RO005: readers ask with every statement, so that a table that is gone is
-- never taken for one without rows.
CREATE FUNCTION table_is_there(of_table bigint) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tables WHERE id = of_table) THEN
        RAISE EXCEPTION 'number %', of_table USING ERRCODE = 'RO005';
    END IF;
    RETURN true;
END $$;

-- Raises an error if a table kept rows as they were, which its triggers can do without a
-- word.
CREATE FUNCTION rows_are_written(of_relation text, kept bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF kept > 0 THEN
        RAISE EXCEPTION 'table %: % of the rows are as before', of_relation, kept USING ERRCODE = 'P0001';
    END IF;
END $$;

-- Raises a conflict if rows of a table are not as they were read.
CREATE FUNCTION rows_are_as_read(of_relation text, differ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF differ > 0 THEN
        RAISE EXCEPTION 'table %: somebody else has changed % of the rows since they were read', of_relation, differ USING ERRCODE = 'RO002';
    END IF;
END $$;
