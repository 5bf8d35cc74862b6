-- Removes the tables of users with everything in them.
DROP FUNCTION write_rows;
DROP TABLE dropped_tables, table_rows, tables;
DELETE FROM counters WHERE name = 'table';
