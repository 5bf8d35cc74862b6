// Package pgstore keeps the contract of package store on PostgreSQL 15 or later.
//
// A store is a schema, made by MigrateUp. Its statements are in queries, and Go
// code for them in internal/pgsql, which go generate makes anew; what
// has to be decided in the server is in the functions of the migrations.
//
// An epoch is one round trip: all its statements are sent together, and are one
// transaction. The first of them is the fence. It locks the partition's own row
// and raises an error if the generation or the routing is not current, so that
// what follows is not executed (D-2, D-12).
//
// What is told from time to time costs a row of a worker, not of a partition: its
// beat brings along what it lacks and whom it holds back, and one read finds out all
// that is new. What belongs to data, a report of watermarks (D-15), is a column of the
// row that its commit writes anyway.
//
// A table may stand for one that a user made in the same database (store.Adopter).
// Its statements are made when it is found, since its columns are not known before;
// names in them are quoted, and what comes from rows travels in arguments. Whoever
// else writes there keeps no version of a row, and a comparison of xmin would take
// a change of any column for one that matters, and needs a place in what the engine
// keeps: so the columns themselves are compared with what was read, in the server,
// once the row is locked (KV-22). An epoch that meets a lock there gives its lane
// away, and waits in one of those for the patient.
package pgstore

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
//go:generate go test ./internal/pgsql -update
