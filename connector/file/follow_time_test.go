package file

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/connector"
)

// followed opens a reader of a file that does not exist.
func followed(t *testing.T, params string) (connector.Reader, string) {
	t.Helper()
	src, dir := folder{}.source(t, `{path="in.jsonl";`+params+`}`)
	if paths, err := src.Partitions(t.Context()); err != nil || len(paths) != 1 {
		t.Fatalf("partitions %v, error %v", paths, err)
	}
	return openAt(t, src, "in.jsonl", nil), filepath.Join(dir, "in.jsonl")
}

func TestAFollowedFileIsLookedAtOncePerInterval(t *testing.T) {
	for params, want := range map[string]time.Duration{"": 250 * time.Millisecond, "poll_interval=3000": 3 * time.Second} {
		t.Run(params, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, path := followed(t, params)
				start := time.Now()
				time.AfterFunc(100*time.Millisecond, func() { write(t, path, lines(0, 2)) })
				b, err := r.Read(t.Context(), unlimited)
				if got := time.Since(start); err != nil || len(b.Rows) != 2 || got != want {
					t.Errorf("%d rows after %s, error %v, want two after %s", len(b.Rows), got, err, want)
				}
			})
		})
	}
}

// TestAnIdleReadWaits: a Read that span would keep the clock from moving on.
func TestAnIdleReadWaits(t *testing.T) {
	for name, content := range map[string]string{"no file": "", "a file": lines(0, 1), "a line without end": `{"n":0`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, path := followed(t, "")
				if content != "" {
					write(t, path, content)
				}
				for {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					b, err := r.Read(ctx, unlimited)
					cancel()
					if err == nil && len(b.Rows) == 1 {
						continue
					}
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%d rows, error %v, want to wait until the hour is over", len(b.Rows), err)
					}
					return
				}
			})
		})
	}
}

func TestAWaitingReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := followed(t, "poll_interval=3600000")
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := r.Read(ctx, unlimited); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		write(t, path, lines(0, 1)) // and the reader can go on
		if b, err := r.Read(t.Context(), unlimited); err != nil || len(b.Rows) != 1 {
			t.Errorf("%d rows, error %v", len(b.Rows), err)
		}
	})
}

func TestAFollowedFileNeedsAFolder(t *testing.T) {
	src, dir := folder{}.source(t, `{path="in/rows.jsonl"}`)
	_, err := src.Partitions(t.Context())
	want := "there is no folder for the file " + dir + "/in/rows.jsonl to appear in: stat " + dir + "/in: no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
