package pgtest

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard ends a server whose test is gone, however that ended: a panic, a time-out
// and a signal run no clean-up. It is a process of its own that reads from a pipe
// which the system closes when the test's process is no more.
type guard struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

const guardScript = `read word; [ "$word" = done ] || { kill -QUIT "$1"; rm -rf "$2"; }`

func newGuard(pid int, dir string) (*guard, error) {
	cmd := exec.Command("sh", "-c", guardScript, "guard", fmt.Sprint(pid), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what interrupts the test does not reach it
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &guard{cmd, in}, cmd.Start()
}

// dismiss ends the guard, whose server has ended.
func (g *guard) dismiss() error {
	_, err := io.WriteString(g.in, "done\n")
	return errors.Join(err, g.in.Close(), g.cmd.Wait())
}
