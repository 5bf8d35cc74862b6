//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// childVariable is the environment variable that makes the test's program a child: the
// pipeline in that folder, until it is killed.
const childVariable = "RONDO_AIRPORTS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := mirror(dir, dir, obey); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// obey writes a line whenever the pipeline gets on. For each line that is read it lets
// whole passes go by, and writes what they came to. It ends with its input.
func obey(p *engine.Pipeline) error {
	told := make(chan error)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			told <- wholePass(p)
		}
		close(told)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for last := ""; ; {
		select {
		case err, more := <-told:
			if err != nil || !more {
				return err
			}
			fmt.Println("settled:", counts(p))
		case <-tick.C:
			if now := progress(p); now != last {
				fmt.Println(now)
				last = now
			}
		}
	}
}

// progress says how far the passes are, and what they came to.
func progress(p *engine.Pipeline) (text string) {
	for _, v := range p.VisitStreams() {
		text += fmt.Sprintf("pass %d: %.2f, ", v.Pass, v.Progress)
	}
	return text + counts(p)
}

// life is one process of the pipeline.
type life struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
	err strings.Builder
}

func begin(t *testing.T, dir string) *life {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	l := &life{t: t, cmd: exec.CommandContext(ctx, os.Args[0])}
	l.cmd.Env = append(l.cmd.Environ(), childVariable+"="+dir)
	l.cmd.Stderr = &l.err
	in, err1 := l.cmd.StdinPipe()
	out, err2 := l.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, l.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	l.in, l.out = in, bufio.NewScanner(out)
	return l
}

// lines waits for a number of lines.
func (l *life) lines(n int) {
	for range n {
		l.line()
	}
}

func (l *life) line() string {
	l.t.Helper()
	if !l.out.Scan() {
		_ = l.cmd.Wait() // it says nothing that its output does not
		l.t.Fatalf("the pipeline ended: %s", l.err.String())
	}
	return l.out.Text()
}

// settle lets whole passes go by, and returns what they came to.
func (l *life) settle() string {
	l.t.Helper()
	if _, err := io.WriteString(l.in, "\n"); err != nil {
		l.t.Fatal(err)
	}
	for {
		if what, ok := strings.CutPrefix(l.line(), "settled: "); ok {
			return what
		}
	}
}

func (l *life) kill() {
	l.t.Helper()
	if err := l.cmd.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
	for l.out.Scan() {
	}
	_ = l.cmd.Wait() // it was killed
}

// TestKillsAreNotSeenInTheMirror plays the same scenes while the process is killed
// again and again, before, during and after each of them: every counter and every
// state comes to the same.
func TestKillsAreNotSeenInTheMirror(t *testing.T) {
	dir := t.TempDir()
	table := newTable(".", dir)
	if err := errors.Join(table.original(), hurried(dir)); err != nil {
		t.Fatal(err)
	}
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	l := begin(t, dir)
	got := ""
	for _, s := range table.scenes() {
		if err := s.change(); err != nil {
			t.Fatal(err)
		}
		for range rng.IntN(3) {
			l.lines(rng.IntN(8))
			l.kill()
			l = begin(t, dir)
		}
		got += fmt.Sprintf("%-28s %s\n", s.name, l.settle())
		l.kill()
		compareStored(t, table)
		l = begin(t, dir)
	}
	l.kill()
	if got != want {
		t.Errorf("seed %d: got\n%swant\n%s", seed, got, want)
	}
}

// hurried puts the pipeline into a folder, with shorter passes.
func hurried(dir string) error {
	text, err := os.ReadFile("pipeline.yson")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pipeline.yson"), bytes.Replace(text, []byte(`"500ms"`), []byte(`"100ms"`), 1), 0o600)
}

// compareStored looks into the store that a killed process left.
func compareStored(t *testing.T, table *table) {
	t.Helper()
	s, err := pebblestore.Open(storeIn(table.dir), pebblestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = compare(t.Context(), s, table.good)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(table.dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}
