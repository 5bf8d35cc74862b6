// Package fieldreport plays what people report who visit all keys of something
// from time to time: expiry of rows, resync loops, scanners, clean-up timers. It
// has tests only.
//
// A scenario, R01 to R65, is one complaint that came up again and again, and
// what should have happened instead. Each has a test that carries its number. A
// test runs the real engine on the real store, in a file system in memory, on
// virtual time: an hour costs what the work in it costs. What happened is
// written down by flowtest.Recorder and judged by the checks of that package.
//
// Left out are scenarios that ask for what there is not: visits aligned to the
// clock (R48) and a window of time for them (half of R65). Those about several
// workers (R19, R25, R27, R28, R42) are played twice: by several pipelines on one
// store, as a fenced owner and its successor, and by a cluster of workers, with a
// controller among them, which die, freeze, come and go.
//
//	go test ./internal/fieldreport -run R44
//
// RONDO_TEST_LOG=1 shows what the engine logs.
package fieldreport
