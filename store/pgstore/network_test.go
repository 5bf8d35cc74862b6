package pgstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// behindNetwork is a store of one partition behind a network of its own.
func behindNetwork(t *testing.T, o pgstore.Options) (*pgtest.Proxy, *pgstore.Store, store.Partition) {
	t.Helper()
	url, schema := newURL()
	migrateUp(t, url)
	net := network(t, server)
	s := open(t, net.URL(schema), o)
	return net, s, owned(t, s, 1)[0]
}

// D-3: a connection that is cut before the answer leaves the outcome unknown,
// wherever it is cut, and what is true is read.
func TestACommitWhoseConnectionIsCutHasAnUnknownOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		cut  func(*pgtest.Proxy) error
		last int
	}{
		"before the server had it":   {func(p *pgtest.Proxy) error { return p.CutSent(0) }, 1},
		"when the server had a part": {func(p *pgtest.Proxy) error { return p.CutSent(600) }, 1},
		"before the answer was back": {(*pgtest.Proxy).CutAnswers, 2},
	} {
		t.Run(name, func(t *testing.T) {
			net, s, p := behindNetwork(t, pgstore.Options{Connections: 1})
			must(t, s.Commit(t.Context(), numbered(p, 1)), tc.cut(net))
			if err := s.Commit(t.Context(), numbered(p, 2)); !errors.Is(err, store.ErrUnknownOutcome) {
				t.Fatalf("got %v, want %v", err, store.ErrUnknownOutcome)
			}
			net.Heal()
			if last := whole(t, s, p, 1); last != tc.last {
				t.Fatalf("%d commits took effect, want %d", last, tc.last)
			}
		})
	}
}

// A network that swallows what is sent holds a call up for its time, and no longer;
// afterwards the store works on by itself.
func TestABlackHoleHoldsACallUpForItsTimeOnly(t *testing.T) {
	t.Parallel()                 // it only waits
	const call = 2 * time.Second // in which a slow machine connects, too
	net, s, p := behindNetwork(t, pgstore.Options{Connections: 2, CallTimeout: call})
	must(t, s.Commit(t.Context(), numbered(p, 1)), net.Swallow())
	began := time.Now()
	if err := s.Commit(t.Context(), numbered(p, 2)); !errors.Is(err, store.ErrUnknownOutcome) {
		t.Fatalf("a commit: %v, want %v", err, store.ErrUnknownOutcome)
	}
	if _, err := s.Partitions(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("a read: %v, want %v", err, store.ErrUnavailable)
	}
	if err := s.Commit(t.Context(), numbered(p, 3)); !errors.Is(err, store.ErrUnavailable) { // has to connect first
		t.Fatalf("a commit without a connection: %v, want %v", err, store.ErrUnavailable)
	}
	if took := time.Since(began); took > time.Minute { // which is the time of one call where nobody gives another
		t.Fatalf("three calls took %s", took)
	}
	net.Heal()
	whole(t, s, p, 1)
}

// An epoch is one round trip, and the start of a job, a relayout or new partitions are
// some, however many partitions there are.
func TestTheNetworkIsCrossedAFewTimesOnly(t *testing.T) {
	const many = 40
	url, schema := newURL()
	migrateUp(t, url)
	net := newCounted(t, server)
	s := open(t, net.url(server, schema), pgstore.Options{Connections: 1})
	p := owned(t, s, 1)[0]
	must(t, s.Commit(t.Context(), numbered(p, 1)), s.Commit(t.Context(), numbered(p, 2)))
	net.crossed("a commit", 1, func() error { return s.Commit(t.Context(), numbered(p, 3)) })
	net.crossed("a new generation", 10, func() error { _, err := s.RaiseGeneration(t.Context(), p.ID); return err })
	layout := func(n int) []store.Partition {
		ps := make([]store.Partition, n)
		for i := range ps {
			ps[i] = store.Partition{Computation: "d", Kind: store.RangePartition, Layout: 1, Open: true, Routing: []store.Route{{Computation: "d", Layout: 1}}}
		}
		return ps
	}
	var made []store.Partition
	net.crossed("the creation of partitions", 15, func() (err error) {
		made, err = s.CreatePartitions(t.Context(), layout(many))
		return err
	})
	net.crossed("a relayout", 30, func() error {
		r := store.Relayout{Computation: "d", Plan: func(f *store.Former) ([]store.Successor, error) {
			next := make([]store.Successor, many)
			for i, p := range layout(many) {
				next[i].Partition = p
			}
			return next, nil
		}}
		for _, p := range made {
			r.Replaced = append(r.Replaced, p.ID)
		}
		_, err := s.Relayout(t.Context(), r)
		return err
	})
}

// A process that was cut off, and finds another one in its place when it is back,
// leaves the store to that one.
func TestAProcessThatWasCutOffLeavesTheStoreToItsSuccessor(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	net := network(t, server)
	former := open(t, net.URL(schema), pgstore.Options{})
	p := owned(t, former, 1)[0]
	net.Down()
	successor := open(t, url, pgstore.Options{})
	must(t, net.Up())
	await(t, func() bool {
		err := former.Commit(t.Context(), numbered(p, 1))
		return errors.Is(err, store.ErrStopped) && strings.Contains(err.Error(), "another process has taken it")
	})
	mine := raise(t, successor, p.ID).Partition
	must(t, successor.Commit(t.Context(), &store.Commit{Partition: p.ID, Generation: mine.Generation, Computation: "c", Offset: []byte("1")}))
}

// The password of the URL is in no error.
func TestErrorsDoNotShowThePassword(t *testing.T) {
	_, schema := newURL()
	net := network(t, server)
	url := net.URL(schema)
	secret := strings.TrimSuffix(strings.Split(url, "@")[0], "@")[len("postgres://rondo:"):]
	for what, url := range map[string]string{
		"no store":       url,
		"wrong password": strings.Replace(url, secret, secret+"x", 1),
		"no database":    strings.Replace(url, "/postgres?", "/nowhere?", 1),
		"no server":      strings.Replace(url, "@127.0.0.1:", "@127.0.0.1:1", 1),
		"no URL":         strings.Replace(url, "sslmode=disable", "sslmode=perhaps", 1),
		"no number":      strings.Replace(url, "@127.0.0.1:", "@127.0.0.1:x", 1),
	} {
		_, err := pgstore.Open(t.Context(), url, pgstore.Options{})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
