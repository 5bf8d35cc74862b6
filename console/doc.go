// Package console lets people and programs look into a running pipeline and
// control it: a small HTTP API that acts only through the public methods of
// package engine.
//
// A running pipeline serves it on a Unix socket in its data folder (see
// [Listen]), which only the user who runs the pipeline can open. [Client] speaks
// to that socket. Whoever serves the same [Server] elsewhere has to say first who
// may come.
//
// # The API
//
// Paths begin with /v1, the version. Bodies are JSON, and an unknown field is an
// error. A failed request answers with [Error], which names the parameter and
// its allowed range where the cause is one, and has changed nothing.
//
//	GET  /v1/status                                     Status
//	GET  /v1/visits                                     Visits
//	GET  /v1/visits/{computation}/{stream}/passes       Passes
//	POST /v1/visits/{computation}/{stream}/run-now      RunNowRequest
//	GET  /v1/spec                                       Spec
//	POST /v1/spec/dynamic                               SetRequest → SetAnswer
//	POST /v1/repartition                                RepartitionRequest
//	POST /v1/backup                                     BackupRequest → BackupAnswer
//	POST /v1/state/get                                  StateKeys → States
//	POST /v1/state/list                                 StateList → States
//	POST /v1/pause, /v1/stop
//
// # Limits
//
// A request has at most 1 MiB, one with rows of tables 32 MiB, has to arrive within
// ten seconds, and takes at most half a minute, except for a backup and a repartition, which last as long
// as their client waits. At most 64 clients are connected; more wait. A client
// that reads its answer slowly is cut off: it holds up nobody else.
package console
