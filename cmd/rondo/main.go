// Command rondo runs pipelines from their spec files.
//
// It only joins things: flags, the store and the connectors, progress, and exit
// codes. 0 is done, which a completed pipeline run again and one stopped with
// Ctrl-C are too; 1 is failed; 2 is wrong usage or a wrong spec; 130 is quit by
// a second Ctrl-C, or because the store did not answer after the first.
//
// Progress and logs go to stderr: a live block on a terminal, log lines
// elsewhere. What a program may want to read goes to stdout.
package main

import "os"

func main() {
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}
