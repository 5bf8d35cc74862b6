package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rondo-flow/rondo/internal/figures"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// Each file of testdata/script is a session at the command line, in a folder
// that holds examples/flights, examples/audit, examples/wait-join and nothing else.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Values[jobsKey{}] = map[string]*scriptJob{}
			for _, example := range []string{"flights", "audit", "wait-join"} {
				if err := os.CopyFS(filepath.Join(env.WorkDir, "examples", example), os.DirFS("../../examples/"+example)); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "mounts" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return canMount(t.TempDir()), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"figures": checkFigures, "exits": exits, "interrupt": interrupt, "hold": hold, "passby": passBy, "leave": leave, "edit": edit, "until": until,
			"begin": begin, "end": end, "setstored": setStored, "isempty": isEmpty, "bytes": writeBytes, "postgres": postgres, "blackhole": blackHole, "manyrows": manyRows, "audited": audited,
		},
	})
}

// canMount tells whether the scripts may mount anything.
func canMount(dir string) bool {
	room, err := exec.LookPath("room")
	return err == nil && exec.Command(room, "64k", dir, "true").Run() == nil
}

// postgres runs a server until the script ends, and names a store in it.
func postgres(ts *testscript.TestScript, _ bool, _ []string) {
	server, err := pgtest.Start()
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	ts.Setenv("RONDO_STORE", server.URL(""))
}

// blackHole CODE PATTERN... -- COMMAND... is interrupt with a server whose network
// swallows everything once the first pattern was seen.
func blackHole(ts *testscript.TestScript, _ bool, args []string) {
	server, err := pgtest.StartTCP()
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	proxy, err := pgtest.NewProxy(server)
	ts.Check(err)
	ts.Defer(proxy.Close)
	ts.Setenv("RONDO_STORE", proxy.URL(""))
	ts.Check(ts.Exec("rondo", "migrate", "up"))
	ts.Check(ts.Exec("rondo", "submit", "examples/flights/pipeline.yson"))
	interrupted(ts, args, proxy.Swallow)
}

// checkFigures DATADIR checks what a completed flights job wrote.
func checkFigures(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(figures.Check(ts.MkAbs(args[0]), ts.MkAbs("examples/flights/data/flights-20k.jsonl")))
}

// exits CODE COMMAND... runs a command that exits with the code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code, failed := 0, (*exec.ExitError)(nil)
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// interrupt CODE PATTERN... -- COMMAND... runs a command and sends it SIGINT at
// each line of stderr that matches the next pattern. It exits with the code.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	interrupted(ts, args, func() error { return nil })
}

func interrupted(ts *testscript.TestScript, args []string, first func() error) {
	code := args[0]
	patterns, command := split(args[1:])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "RONDO_STORE="+ts.Getenv("RONDO_STORE"))
	var stdout, stderr strings.Builder
	cmd.Stdout = &stdout
	lines, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		fmt.Fprintln(&stderr, scanner.Text())
		if len(patterns) > 0 && regexp.MustCompile(patterns[0]).MatchString(scanner.Text()) {
			patterns = patterns[1:]
			ts.Check(first())
			ts.Check(cmd.Process.Signal(syscall.SIGINT))
		}
	}
	_ = cmd.Wait() // the exit code says it
	io.WriteString(ts.Stdout(), stdout.String())
	io.WriteString(ts.Stderr(), stderr.String())
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != code || len(patterns) > 0 {
		ts.Fatalf("exit code %s, want %s; not seen: %q; stderr:\n%s", got, code, patterns, stderr.String())
	}
}

func split(args []string) (before, after []string) {
	for i, arg := range args {
		if arg == "--" {
			return args[:i], args[i+1:]
		}
	}
	return nil, args
}

// hold DIR keeps a store open until the script ends.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	s, err := pebblestore.Open(ts.MkAbs(args[0]), pebblestore.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(s.Close()) })
}

// passby DIR holds a data folder as a command does, until leave or the end.
func passBy(ts *testscript.TestScript, _ bool, args []string) {
	f, err := pebblestore.HoldFolder(ts.MkAbs(args[0]), time.Time{}, passing)
	ts.Check(err)
	release := sync.OnceValue(f.Release)
	jobsOf(ts)["passby"] = &scriptJob{leave: release}
	ts.Defer(func() { ts.Check(release()) })
}

// leave lets the folder of passby go.
func leave(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(jobsOf(ts)["passby"].leave()) }

// edit FILE OLD NEW replaces a text that the file has once.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%s has %q %d times", args[0], args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// bytes FILE TEXT writes a text in which \x.. stands for any byte.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// manyRows FILE makes a CSV file of more rows than are written at once, the last of which
// has the key of the first.
func manyRows(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	b.WriteString("user,visits\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "user%d,%d\n", i+1, i)
	}
	b.WriteString("user1,7\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// isEmpty DIR checks that a folder has nothing in it.
func isEmpty(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s has %v", args[0], entries)
	}
}

// setStored DIR OLD NEW changes the stored dynamic spec, as a running pipeline's
// may be.
func setStored(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	s, err := pebblestore.Open(ts.MkAbs(args[0]), pebblestore.Options{})
	ts.Check(err)
	p, err := s.Pipeline(ctx)
	ts.Check(err)
	p.Dynamic = strings.Replace(p.Dynamic, args[1], args[2], 1)
	ts.Check(errors.Join(s.SavePipeline(ctx, p), s.Close()))
}

// stubborn stands for a pipeline that does not stop when told to. A second passes
// between two signals.
func stubborn() {
	now := time.Unix(1e9, 0)
	onInterrupt(func() { fmt.Fprintln(os.Stderr, "first") }, func() { fmt.Fprintln(os.Stderr, "last") }, func() time.Time {
		now = now.Add(time.Second)
		return now
	})
	fmt.Fprintln(os.Stderr, "ready")
	select {}
}
