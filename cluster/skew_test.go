package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// skewed is a store whose clock is not this machine's.
type skewed struct {
	Store
	by time.Duration
}

func (s *skewed) Beat(context.Context, *store.Beat) (*store.View, error) {
	<-time.After(time.Millisecond)
	return &store.View{Now: time.Now().Add(s.by).UnixNano(), Layout: 1}, nil
}

func (s *skewed) View(ctx context.Context) (*store.View, error) { return s.Beat(ctx, nil) }

// TestAWrongClockIsReportedAndNotUsed: a worker goes by the store's clock, and tells
// once that its machine's is off, and once that it is right again. Its time never
// goes back.
func TestAWrongClockIsReportedAndNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &skewed{}
		m, err := New(t.Context(), s, Options{Worker: "w", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		beat := func(by time.Duration, said int) {
			t.Helper()
			s.by = by
			for range 3 {
				if err := m.beat(t.Context()); err != nil {
					t.Fatal(err)
				}
				if m.Now() < last {
					t.Errorf("the time goes back from %d to %d", last, m.Now())
				}
				last = m.Now()
				<-time.After(time.Second)
			}
			if n := strings.Count(log.String(), "\n"); n != said {
				t.Errorf("off by %s: %d lines are said, want %d:\n%s", by, n, said, log.String())
			}
		}
		beat(-10*time.Minute, 1)
		beat(0, 2)
		beat(10*time.Minute, 3)
		if off := time.Duration(m.Now() - time.Now().UnixNano()); off.Round(time.Second) != 10*time.Minute {
			t.Errorf("the worker's time is %s ahead of the machine's", off)
		}
		if !strings.Contains(log.String(), "off_by=-10m0s") {
			t.Errorf("the log says %s", log.String())
		}
	})
}
