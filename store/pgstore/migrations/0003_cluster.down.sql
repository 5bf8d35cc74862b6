DROP FUNCTION raise_generation(bigint, text);
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
DROP FUNCTION end_sessions(text[]);
DROP FUNCTION govern(bigint);
ALTER TABLE partitions DROP COLUMN worker;
DELETE FROM counters WHERE name = 'assignment';
DROP TABLE lease;
DROP TABLE workers;
