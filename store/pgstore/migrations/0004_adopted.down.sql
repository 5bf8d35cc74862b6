-- Forgets which tables are of users; they stay as they are.
DROP FUNCTION rows_are_written(text, bigint);
DROP FUNCTION rows_are_as_read(text, bigint);
DROP FUNCTION table_is_there(bigint);
DROP FUNCTION hold_tables(bigint[]);
DELETE FROM tables WHERE relation IS NOT NULL;
ALTER TABLE tables DROP COLUMN relation;
