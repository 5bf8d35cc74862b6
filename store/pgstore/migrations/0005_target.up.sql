-- What the workers are to be about: 0 to work, 1 to pause, 2 to drain, 3 to rest; and
-- since which version.
ALTER TABLE pipeline ADD COLUMN target smallint NOT NULL DEFAULT 0, ADD COLUMN aimed bigint NOT NULL DEFAULT 0;
