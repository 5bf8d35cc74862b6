// Package pgtest runs a PostgreSQL server for tests: one of their own, with a data
// folder of its own, which nobody else can reach and which is gone when they end.
package pgtest
