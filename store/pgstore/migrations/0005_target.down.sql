-- A pipeline that was paused or stopped goes on with the next worker.
ALTER TABLE pipeline DROP COLUMN target, DROP COLUMN aimed;
