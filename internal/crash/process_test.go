package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// process is one life of a job: a process that is killed or ends by itself. It
// is used by the test's goroutine.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	err    complaints
	lines  int
	last   string
	killed bool // the test meant to
	ended  bool
}

// longest is after how long a life is a hang. It is no measure of speed.
const longest = 2 * time.Minute

// start starts a command. The context ends whatever a failed test leaves.
func start(t *testing.T, meant bool, name string, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	p := &process{t: t, cmd: exec.CommandContext(ctx, name, args...)}
	p.err.meant, p.err.heard = meant, make(chan struct{})
	p.cmd.Env = append(p.cmd.Environ(), env...)
	p.err.kill = func() { _ = p.cmd.Process.Kill() }
	p.cmd.Stderr = &p.err
	in, inErr := p.cmd.StdinPipe()
	out, outErr := p.cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		p.reap()
	})
	return p
}

// reap reads what is left and waits for the end.
func (p *process) reap() {
	if p.ended {
		return
	}
	p.ended = true
	for _, more := p.next(); more; _, more = p.next() {
	}
	_ = p.cmd.Wait() // the exit code says it
}

// next returns the next line that the process writes; false is its end.
func (p *process) next() (string, bool) {
	if !p.out.Scan() {
		return "", false
	}
	p.lines++
	p.last = p.out.Text()
	return p.last, true
}

// await reads lines until one has the prefix; false is the end of the process.
func (p *process) await(prefix string) bool {
	for line, more := p.next(); more; line, more = p.next() {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// skip reads n lines; false is the end of the process.
func (p *process) skip(n int) bool {
	more := true
	for ; n > 0 && more; n-- {
		_, more = p.next()
	}
	return more
}

// kill sends SIGKILL and waits for the end. It returns false if the process was
// through before.
func (p *process) kill() bool {
	p.t.Helper()
	p.killed = true
	_ = p.cmd.Process.Kill() // an error means that it has ended
	return p.finish() == nil
}

// killAfter sends SIGKILL in d, wherever the process is then, and waits for its
// end. It returns false if the process was through before.
func (p *process) killAfter(d time.Duration) bool {
	p.t.Helper()
	p.killed = true
	timer := time.AfterFunc(d, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	return p.finish() == nil
}

// release ends a stall.
func (p *process) release() {
	p.t.Helper()
	if _, err := io.WriteString(p.in, released+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// finish waits for the end and returns the summary, nil if the process was
// killed. It fails the test on any other end, and on every complaint.
func (p *process) finish() *summary {
	p.t.Helper()
	p.reap()
	code := p.cmd.ProcessState.ExitCode()
	if p.err.found && !p.err.meant || code != 0 && (code != -1 || !p.killed) {
		p.t.Fatalf("%s, after %q, stderr:\n%s", p.cmd.ProcessState, p.last, p.err.text.String())
	}
	if code != 0 {
		return nil
	}
	var s summary
	if err := json.Unmarshal([]byte(p.last), &s); err != nil {
		p.t.Fatalf("the last line is no summary: %q: %v", p.last, err)
	}
	return &s
}

// complaints is the stderr of a process, which is killed when it says anything
// that is not for information: no life of a job meets an error, and an engine
// that does tries again for ever. Where faults are meant, complaints are. Write is
// called by one goroutine, which ends before the process is reaped.
type complaints struct {
	kill  func()
	text  strings.Builder
	line  []byte // what has come of a line
	meant bool
	found bool
	heard chan struct{} // closed when it is found
}

func (c *complaints) Write(b []byte) (int, error) {
	c.text.Write(b)
	c.line = append(c.line, b...)
	for line, rest, whole := bytes.Cut(c.line, []byte("\n")); whole; line, rest, whole = bytes.Cut(c.line, []byte("\n")) {
		if !bytes.Contains(line, []byte(" level=INFO ")) && !c.found {
			c.found = true
			close(c.heard)
			if !c.meant {
				c.kill()
			}
		}
		c.line = rest
	}
	return len(b), nil
}
