package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptJob is a process that a script has in the background.
type scriptJob struct {
	leave func() error // of visit alone, which is no process
	cmd   *exec.Cmd
	// read is closed when stderr has ended.
	read   chan struct{}
	mu     sync.Mutex
	stderr bytes.Buffer
	stdout bytes.Buffer
}

type jobsKey struct{}

func jobsOf(ts *testscript.TestScript) map[string]*scriptJob {
	return ts.Value(jobsKey{}).(map[string]*scriptJob)
}

// commandOfScript is a command in the folder of the script, with the store that it
// names.
func commandOfScript(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "RONDO_STORE="+ts.Getenv("RONDO_STORE"))
	return cmd
}

// begin NAME PATTERN COMMAND... starts a command in the background, and waits
// until a line of its stderr matches.
func begin(ts *testscript.TestScript, _ bool, args []string) {
	job := &scriptJob{cmd: commandOfScript(ts, args[2:]), read: make(chan struct{})}
	job.cmd.Stdout = &job.stdout
	stderr, err := job.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(job.cmd.Start())
	jobsOf(ts)[args[0]] = job
	ts.Defer(func() {
		_ = job.cmd.Process.Kill() // it has ended if all went well
		_ = job.wait()
	})
	seen := make(chan struct{})
	go job.follow(stderr, regexp.MustCompile(args[1]), seen)
	select {
	case <-seen:
	case <-job.read:
		ts.Fatalf("%s ended before it printed %s:\n%s", args[0], args[1], job.said())
	}
}

// follow keeps what is printed, and tells of the first line that matches.
func (j *scriptJob) follow(stderr io.Reader, pattern *regexp.Regexp, seen chan struct{}) {
	defer close(j.read)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		j.mu.Lock()
		fmt.Fprintln(&j.stderr, lines.Text())
		j.mu.Unlock()
		if seen != nil && pattern.MatchString(lines.Text()) {
			close(seen)
			seen = nil
		}
	}
}

func (j *scriptJob) said() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stderr.String()
}

func (j *scriptJob) wait() error {
	<-j.read
	return j.cmd.Wait()
}

// end NAME CODE [kill|interrupt|none] sends a signal, interrupt by default, waits
// for the end, and shows what was printed. The code of a killed process is -1.
func end(ts *testscript.TestScript, _ bool, args []string) {
	job := jobsOf(ts)[args[0]]
	signal := "interrupt"
	if len(args) > 2 {
		signal = args[2]
	}
	switch signal {
	case "kill":
		ts.Check(job.cmd.Process.Signal(syscall.SIGKILL))
	case "interrupt":
		ts.Check(job.cmd.Process.Signal(syscall.SIGINT))
	}
	_ = job.wait() // the exit code says it
	io.WriteString(ts.Stdout(), job.stdout.String())
	io.WriteString(ts.Stderr(), job.said())
	if got := fmt.Sprint(job.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exit code %s, want %s; stderr:\n%s", got, args[1], job.said())
	}
}

// tries is how often until asks: a command each time, so that it takes a while.
const tries = 500

// until PATTERN COMMAND... runs a command again and again until its output matches.
func until(ts *testscript.TestScript, _ bool, args []string) {
	pattern, out := regexp.MustCompile(args[0]), []byte(nil)
	for range tries {
		cmd := commandOfScript(ts, args[1:])
		if out, _ = cmd.CombinedOutput(); pattern.Match(out) {
			return
		}
	}
	ts.Fatalf("%v never printed %s, but in the end:\n%s", args[1:], args[0], out)
}
