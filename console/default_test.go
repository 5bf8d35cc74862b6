package console_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/console"
)

// again serves the pipeline of r on another folder too.
func (r *running) again(t *testing.T, o console.Options) *console.Client {
	t.Helper()
	dir := t.TempDir()
	o.Pipeline = r.pipeline
	server, client := console.Serve(listen(t, dir), o), console.NewClient(dir)
	t.Cleanup(func() {
		client.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func TestThePipelineIsAllThatAServerNeeds(t *testing.T) {
	c := serve(t, nil).again(t, console.Options{})
	if s, err := c.Status(t.Context()); err != nil || s.Pipeline != "clicks" {
		t.Errorf("status %v, error %v", s, err)
	}
	value := "7"
	if _, err := c.SetDynamic(t.Context(), console.SetRequest{Path: `computations."users/a b.c%".max_rows_per_batch`, Value: &value}); err != nil {
		t.Errorf("set: %v", err) // what changes something is logged
	}
	refused := (*console.Error)(nil)
	if _, err := c.Backup(t.Context(), console.BackupRequest{Dir: "/nowhere"}); !errors.As(err, &refused) || !strings.Contains(refused.Message, "makes no backups") {
		t.Errorf("a backup that nobody can make: %v", err)
	}
}

func TestAPanicOfAHandlerIsAnsweredAndLogged(t *testing.T) {
	var log bytes.Buffer
	c := serve(t, nil).again(t, console.Options{
		Backup: func(context.Context, string) ([]string, error) { panic("no disk") },
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
	})
	failed := (*console.Error)(nil)
	if _, err := c.Backup(t.Context(), console.BackupRequest{Dir: "/nowhere"}); !errors.As(err, &failed) || failed.Status != http.StatusInternalServerError || !strings.Contains(failed.Message, "no disk") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(log.String(), "default_test.go") {
		t.Errorf("the log does not say where: %s", &log)
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
}
