package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// jammed has a store with one lane, in which an epoch waits for a row that somebody
// else holds, and others that have come meanwhile. Made gets the commits of those
// behind it, each of a partition of its own.
type jammed struct {
	s     *pgstore.Store
	net   *pgtest.Proxy
	parts []store.Partition
	errs  []error
	first error
	done  sync.WaitGroup
	clear func()
}

func jam(t *testing.T, o pgstore.Options, n int, made func(p store.Partition, i int) (context.Context, *store.Commit)) *jammed {
	t.Helper()
	url, schema := newURL()
	migrateUp(t, url)
	o.Connections, o.LockTimeout = 2, time.Minute // they wait until the test lets them
	j := &jammed{net: network(t, server), errs: make([]error, n)}
	j.s = open(t, j.net.URL(schema), o)
	j.parts = owned(t, j.s, n+1)
	j.clear = heldRow(t, schema, j.parts[n].ID)
	j.done.Go(func() { j.first = j.s.Commit(context.Background(), numbered(j.parts[n], 1)) })
	await(t, func() bool {
		return ask[int](t, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%begin_epoch%'") > 0
	})
	for i := range n {
		ctx, c := made(j.parts[i], i)
		j.done.Go(func() { j.errs[i] = j.s.Commit(ctx, c) })
	}
	await(t, func() bool { return j.s.Waiting() == n })
	return j
}

// await polls until it is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for range 20_000 {
		if so() {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatal("it does not come to that")
}

// transactions counts those that the states of the partitions came by.
func (j *jammed) transactions(t *testing.T) int {
	t.Helper()
	schema := fmt.Sprintf("test_%d", schemas.Load())
	return ask[int](t, "SELECT count(DISTINCT xmin::text)::int FROM "+schema+".key_states")
}

func first(p store.Partition, _ int) (context.Context, *store.Commit) {
	return context.Background(), numbered(p, 1)
}

func TestEpochsThatWaitShareATransaction(t *testing.T) {
	j := jam(t, pgstore.Options{}, 10, first)
	j.clear()
	j.done.Wait()
	must(t, j.first, errors.Join(j.errs...))
	if n := j.transactions(t); n != 2 {
		t.Errorf("an epoch and ten others, which waited for it, are %d transactions", n)
	}
	for _, p := range j.parts {
		whole(t, j.s, p, 1)
	}
}

// One that may not be committed does not take the others with it.
func TestEpochsGoAloneWhenOneOfAGroupFails(t *testing.T) {
	j := jam(t, pgstore.Options{}, 5, func(p store.Partition, i int) (context.Context, *store.Commit) {
		if i == 2 {
			p.Generation--
		}
		return first(p, i)
	})
	j.clear()
	j.done.Wait()
	must(t, j.first)
	for i, err := range j.errs {
		if i == 2 {
			if !errors.Is(err, store.ErrFenced) {
				t.Errorf("the former owner: %v", err)
			}
			continue
		}
		must(t, err)
		whole(t, j.s, j.parts[i], 1)
	}
}

// A partition whose row somebody holds is not waited for by those that are grouped
// with it.
func TestAGroupDoesNotWaitForTheRowOfOne(t *testing.T) {
	j := jam(t, pgstore.Options{}, 4, first)
	release := heldRow(t, fmt.Sprintf("test_%d", schemas.Load()), j.parts[1].ID)
	j.clear()
	await(t, func() bool {
		return ask[int](t, fmt.Sprintf("SELECT count(*)::int FROM test_%d.heads WHERE source_offset IS NOT NULL", schemas.Load())) == 4
	})
	release()
	j.done.Wait()
	must(t, j.first, errors.Join(j.errs...))
}

// D-3, for all of a group: none knows what became of it.
func TestAGroupThatIsCutOffHasAnUnknownOutcome(t *testing.T) {
	j := jam(t, pgstore.Options{}, 3, first)
	must(t, j.net.CutAnswers())
	j.clear()
	j.done.Wait()
	for i, err := range append(j.errs, j.first) {
		if !errors.Is(err, store.ErrUnknownOutcome) && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("epoch %d: %v", i, err)
		}
	}
	j.net.Heal()
	for _, p := range j.parts[:3] {
		whole(t, j.s, p, 0)
	}
}

// An epoch that waits in vain has not been sent.
func TestAnEpochThatIsNotWantedAnyMoreLeavesTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := jam(t, pgstore.Options{}, 2, func(p store.Partition, i int) (context.Context, *store.Commit) {
		if i == 0 {
			return ctx, numbered(p, 1)
		}
		return first(p, i)
	})
	cancel()
	await(t, func() bool { return j.s.Waiting() == 1 })
	j.clear()
	j.done.Wait()
	if !errors.Is(j.errs[0], store.ErrUnavailable) {
		t.Errorf("got %v", j.errs[0])
	}
	must(t, j.first, j.errs[1])
	whole(t, j.s, j.parts[0], 0)
	whole(t, j.s, j.parts[1], 1)
}
