package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// A worker waits for a database that is not there yet, and says so once; one that it
// will never get into ends it.
func TestAWorkerWaitsForItsDatabase(t *testing.T) {
	server, err := pgtest.StartTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	url := server.URL("")
	if _, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{}); err != nil {
		t.Fatal(err)
	}
	lines, into := io.Pipe()
	o := pgstore.Options{Worker: "w", Logger: slog.New(slog.NewTextHandler(into, nil))}
	proxy, err := pgtest.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	tcp := proxy.URL("")
	for wrong, url := range map[string]string{
		"nowhere":    strings.Replace(tcp, "/postgres?", "/nowhere?", 1),
		"somebody":   strings.Replace(tcp, "//rondo:", "//somebody:", 1),
		"no.such":    strings.Replace(tcp, "127.0.0.1", "no.such.invalid", 1),
		"migrate up": url + "&rondo_schema=other",
		"cannot be":  "postgres://rondo@127.0.0.1:port/postgres",
	} {
		if _, err := openWaiting(t.Context(), url, o); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		s, err := openWaiting(t.Context(), url, o)
		if s != nil {
			err = s.Close()
		}
		opened <- err
	}()
	text := make([]byte, 1<<12)
	n, _ := lines.Read(text)
	if !strings.Contains(string(text[:n]), "waiting for it") {
		t.Fatalf("it says %s", text[:n])
	}
	if err := server.Begin(); err != nil {
		t.Fatal(err)
	}
	n, _ = lines.Read(text)
	if !strings.Contains(string(text[:n]), "the store answers") {
		t.Errorf("it says %s", text[:n])
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if s, err := openWaiting(ended, url, o); s != nil || err != nil {
		t.Errorf("told to stop: %v, %v", s, err)
	}
}
