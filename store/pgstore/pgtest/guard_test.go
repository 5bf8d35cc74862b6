package pgtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

const childVariable = "RONDO_PGTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	s, err := pgtest.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.Socket())
	select {} // until it is killed
}

// ends is how long a server may take to end: less than what it gives a client to say
// who it is, after which it would end that connection anyway.
const ends = 30 * time.Second

func TestAServerEndsWhenItsTestIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childVariable+"=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the child started no server: %v", child.Wait())
	}
	conn, err := net.Dial("unix", lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := errors.Join(conn.SetReadDeadline(time.Now().Add(ends)), child.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the server has not ended")
	}
}
