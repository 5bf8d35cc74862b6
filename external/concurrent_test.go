package external

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// TestScansOfManyPartitionsShareAJoiner lists a table from several goroutines while
// it is replaced: what is listed is one version, whole.
func TestScansOfManyPartitionsShareAJoiner(t *testing.T) {
	for _, format := range formats {
		dir := t.TempDir()
		versions := makeVersions(t, dir)[2:4] // of equal keys and different values
		live := filepath.Join(dir, "live"+format)
		m := &model{t: t, path: live, format: format}
		m.put(&versions[0])
		r := newRig(t, live, "", "unavailable_source_policy=mark_unreadable")
		r.joiner.Set(DynamicParameters{ReadAttempts: 1, MaxShrinkRatio: 1})
		stop := make(chan struct{})
		var group sync.WaitGroup
		for range 4 {
			s := r.scan()
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					a, err := s.List(context.Background(), whole())
					if err == nil && !a.Unreadable {
						err = oneVersion(a.Entries)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for i := range 30 {
			m.put(&versions[i%2])
		}
		close(stop)
		group.Wait()
	}
}

func oneVersion(entries []*Entry) error {
	if len(entries) != 2000 {
		return fmt.Errorf("%d rows", len(entries))
	}
	for _, e := range entries {
		if e.Row[2] != entries[0].Row[2] {
			return fmt.Errorf("values %s and %s in one answer", entries[0].Row[2], e.Row[2])
		}
	}
	return nil
}
