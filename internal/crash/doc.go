// Package crash proves what the flights job promises by killing it: its figures
// are the same whatever happens to the process. It has tests only.
//
// A test starts the job as a process of its own, on a real data folder, and
// kills it with SIGKILL, often many times in one job; then the same command
// runs to the end. Most processes are this test binary, started again with
// orders in its environment: the job through engine, Pebble and the real file
// connector, with thin wrappers that say on stdout what is going on. Others are
// the rondo command.
//
// # How a kill is aimed
//
// Each line that a child writes is a point of its work: before and after a
// commit, a write to a sink, a read, the first visit of a pass. A child holds at
// a point if its orders say so: the goroutine that reached it stops there for
// good, and the test kills the process while it does. So a kill between a sink's
// sync and the commit that records it is one line in a test. Other kills come at
// random moments, without holding. Tests and children wait for each other's
// lines only, never for a time to pass.
//
// # What is checked
//
//   - At each start, what the killed process left: every message is in exactly
//     one place, and the sinks' files have what was recorded (audit_test.go).
//   - At the end, the exact figures, the summary against the files, and the
//     history of every route: one visit in each pass of its life
//     (check_test.go).
//   - Nothing in between failed: a child says errors and warnings on stderr,
//     which has to stay empty.
//
// With the state in PostgreSQL the server has faults, too, under a command that
// lives on: it crashes, its disk is full, its network is cut, slow or a black hole,
// transactions are undone, and a replica takes over.
//
// # Clusters
//
// Several processes share a job (fleet_test.go), some of them with a function of
// this package (serve_test.go). Faults strike them one after the other
// (faults_test.go): workers and the controller are killed, frozen and sent away,
// become more and fewer, and so do partitions; the database and the network fail.
// What comes out is a ledger, which is checked for itself (accounts_test.go).
//
// Random moments come from a seed, which a failure prints with the command that
// uses it again. Much of an interleaving is up to the system, so the same seed
// may need several runs. A long search:
//
//	go test ./internal/crash -run Random -kills 2000 -timeout 2h
package crash
