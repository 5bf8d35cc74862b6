//go:build unix

package console_test

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/console"
)

// dying stands for a pipeline that is killed in the middle of each request.
func dying(t *testing.T) *console.Client {
	dir := t.TempDir()
	l := listen(t, dir)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn)) // whatever it is
			_ = conn.Close()
		}
	}()
	c := console.NewClient(dir)
	t.Cleanup(func() {
		c.Close()
		l.Close()
		<-ended
	})
	return c
}

// Whoever asked for something to be done has to know that it may be done, and how
// to find out; whoever only asked can ask again.
func TestAPipelineKilledDuringARequestIsNoRawError(t *testing.T) {
	c, n := dying(t), 3
	_, set := c.SetDynamic(t.Context(), console.SetRequest{Path: "a"})
	_, backup := c.Backup(t.Context(), console.BackupRequest{Dir: "/a"})
	for name, err := range map[string]error{
		"set": set, "backup": backup, "pause": c.Pause(t.Context()), "stop": c.Stop(t.Context()),
		"repartition": c.Repartition(t.Context(), console.RepartitionRequest{Computation: "a", Partitions: &n}),
		"run-now":     c.RunNow(t.Context(), "a", "b", console.RunNowRequest{}),
	} {
		if !errors.Is(err, console.ErrUnknown) || console.Ended(err) || strings.Contains(err.Error(), "EOF") || !strings.Contains(err.Error(), "rondo status and rondo spec get tell") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, status := c.Status(t.Context())
	_, states := c.States().GetStates(t.Context(), "a", []string{"k"})
	for name, err := range map[string]error{"status": status, "states": states} {
		if !console.Ended(err) || errors.Is(err, console.ErrUnknown) || strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder for temporary files that cannot be used says nothing about the pipeline.
func TestALongPathWithoutAFolderForTemporaryFilesIsNoPipelineThatDoesNotRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 110))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	listen(t, dir)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	c := console.NewClient(dir)
	defer c.Close()
	_, served := c.Served(t.Context())
	_, status := c.Status(t.Context())
	n := 3
	repartition := c.Repartition(t.Context(), console.RepartitionRequest{Computation: "a", Partitions: &n})
	for name, err := range map[string]error{"served": served, "status": status, "repartition": repartition} {
		if err == nil || errors.Is(err, console.ErrNotServed) || !strings.Contains(err.Error(), "set TMPDIR to a folder that can be written, or use a shorter data folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
