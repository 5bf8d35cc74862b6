package crash

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// fleet is a cluster of worker processes.
type fleet struct {
	t       *testing.T
	command string
	dir     string
	url     string                      // of the store
	worker  func(data string) *exec.Cmd // makes a worker; nil: rondo worker
	look    *pgstore.Store              // of the test, which runs nothing
	resized string                      // the computation that is repartitioned; "": counter
	lease   string                      // of the rondo command; "": 1s
	crews   []*crew
	all     []*crew
}

// crew is one worker process.
type crew struct {
	cmd *exec.Cmd
	out bytes.Buffer
	err lockedLog
	end chan struct{}
}

type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var idInLog = regexp.MustCompile(`msg=joined worker=(\S+)`)

// id is the worker's, once it has joined.
func (c *crew) id() string {
	if m := idInLog.FindStringSubmatch(c.err.String()); m != nil {
		return m[1]
	}
	return ""
}

func newFleet(t *testing.T, server *pgtest.Server, command, name, job string) *fleet {
	t.Helper()
	f := &fleet{t: t, command: command, dir: t.TempDir(), url: server.URL(name)}
	if _, err := pgstore.MigrateUp(t.Context(), f.url, pgstore.Options{}); err != nil {
		t.Fatal(err)
	}
	if job != "" {
		file := filepath.Join(f.dir, "job.yson")
		if err := os.WriteFile(file, []byte(job), 0o600); err != nil {
			t.Fatal(err)
		}
		f.run("submit", file, "--store", f.url)
	}
	f.open()
	t.Cleanup(func() {
		_ = f.look.Close()
		for _, c := range f.all {
			_ = c.cmd.Process.Kill()
			<-c.end
			if t.Failed() {
				t.Logf("worker %s:\n%s", c.id(), c.err.String())
			}
		}
	})
	return f
}

// open opens the store to look at it.
func (f *fleet) open() {
	f.t.Helper()
	var err error
	if f.look, err = pgstore.Open(f.t.Context(), f.url, pgstore.Options{Worker: "test"}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) run(args ...string) []byte {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.command, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		f.t.Fatalf("rondo %s: %v\n%s", strings.Join(args, " "), e, err.String())
	}
	return out.Bytes()
}

// hire starts a worker and waits until it has joined.
func (f *fleet) hire() {
	f.t.Helper()
	data := filepath.Join(f.dir, fmt.Sprint("data", len(f.all)))
	c := &crew{cmd: exec.Command(f.command, "worker", "--store", f.url, "--lease", cmp.Or(f.lease, "1s"), "--data", data), end: make(chan struct{})}
	if f.worker != nil {
		c.cmd = f.worker(data)
	}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	_, err := c.cmd.StdinPipe() // a child ends when it is closed, as when this process dies
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(c.end)
		_ = c.cmd.Wait() // what it ended with is in its state
	}()
	f.crews, f.all = append(f.crews, c), append(f.all, c)
	f.await("a worker to join", func(*store.View) bool { return c.id() != "" || c.ended() })
}

func (c *crew) ended() bool {
	select {
	case <-c.end:
		return true
	default:
		return false
	}
}

// await looks at the cluster until something is so, or the pipeline is completed.
func (f *fleet) await(what string, so func(*store.View) bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), longest)
	defer cancel()
	for {
		v, err := f.look.View(ctx)
		if err == nil && (v.Unfinished == 0 || so(v)) {
			return
		}
		select {
		case <-ctx.Done():
			f.t.Fatalf("waiting for %s: %v", what, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// owns tells whether a worker has partitions.
func (f *fleet) owns(id string) bool {
	parts, err := f.look.Partitions(f.t.Context())
	return err == nil && slices.ContainsFunc(parts, func(p store.Partition) bool { return p.Worker == id })
}

// over tells that the pipeline is completed.
func (f *fleet) over() bool {
	v, err := f.look.View(f.t.Context())
	return err == nil && v.Unfinished == 0
}

// finish waits for the end of all workers.
func (f *fleet) finish() {
	f.t.Helper()
	for _, c := range f.crews {
		select {
		case <-c.end:
		case <-time.After(longest):
			f.t.Fatalf("worker %s does not end", c.id())
		}
		if !c.cmd.ProcessState.Success() {
			f.t.Errorf("worker %s: %s", c.id(), c.cmd.ProcessState)
		}
	}
}
