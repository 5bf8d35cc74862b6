// Package pgsql is the Go code for the statements of package pgstore.
package pgsql
