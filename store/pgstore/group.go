package pgstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

const (
	// groupEpochs and groupBytes bound what shares a transaction.
	groupEpochs = 16
	groupBytes  = 4 << 20
)

// group lets epochs of several partitions share a transaction, and so a round trip
// and a sync. Nobody waits to be joined: an epoch goes at once while a lane is free,
// and those that come while all lanes are busy go together when one is.
type group struct {
	lock    sync.Mutex
	free    int // lanes
	waiting []*member
}

// member is an epoch that waits.
type member struct {
	commit *store.Commit
	alone  bool // shares with nobody
	// hurries: it does not wait for locks, since it has a lane that others want.
	hurries bool
	turn    chan turn // has room for one
}

// turn is what becomes of a member: it leads a group, it goes alone, or it went with
// the others.
type turn struct {
	lead  []*member
	alone bool
	err   error
}

// enter takes a lane, or waits for a turn.
func (g *group) enter(ctx context.Context, m *member) turn {
	if g.lane(m) {
		return turn{lead: []*member{m}}
	}
	select {
	case t := <-m.turn:
		return t
	case <-ctx.Done():
	}
	if g.leave(m) {
		return turn{err: ended(ctx)}
	}
	return <-m.turn // it is under way
}

func (g *group) lane(m *member) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.free == 0 {
		g.waiting = append(g.waiting, m)
		return false
	}
	g.free--
	return true
}

func (g *group) leave(m *member) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	i := slices.Index(g.waiting, m)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// pass gives a lane to those that wait, or frees it.
func (g *group) pass() {
	g.lock.Lock()
	defer g.lock.Unlock()
	n, bytes := 0, 0
	for n < min(len(g.waiting), groupEpochs) && (n == 0 || bytes < groupBytes && !g.waiting[0].alone && !g.waiting[n].alone) {
		bytes += sizeOf(g.waiting[n].commit)
		n++
	}
	if n == 0 {
		g.free++
		return
	}
	next := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	next[0].turn <- turn{lead: next}
}

// sizeOf is about what a commit has to send.
func sizeOf(c *store.Commit) (n int) {
	for i := range c.States {
		n += len(c.States[i].Key) + len(c.States[i].Value)
	}
	for i := range c.Produced {
		n += len(c.Produced[i].Payload)
	}
	for i := range c.Appended {
		n += len(c.Appended[i].Value)
	}
	return n
}

// commit sends an epoch, with others if there are some. One that writes rows of
// tables goes alone: two that go by what the same row was have to come one after the
// other. It holds a lane while it is on its way, and one of the patient ones if it
// has to wait for locks that others may hold for long: so those who wait leave lanes
// to the others, and all of them connections to those who read.
func (s *Store) commit(ctx context.Context, c *store.Commit) error {
	w, err := s.sortRows(ctx, c.Rows)
	if err != nil {
		return err
	}
	m := member{commit: c, alone: len(c.Rows) > 0, hurries: len(w.own) > 0}
	t := s.through(ctx, &s.group, &w, m)
	if t.alone { // it was undone with others
		m.alone, m.hurries = true, true
		t = s.through(ctx, &s.group, &w, m)
	}
	if m.hurries && notNow(t.err) {
		m.hurries = false
		t = s.through(ctx, &s.patient, &w, m)
	}
	return t.err
}

// through takes a lane, or waits for one, and sends what goes with it.
func (s *Store) through(ctx context.Context, g *group, w *rowsToWrite, m member) turn {
	m.turn = make(chan turn, 1)
	t := g.enter(ctx, &m)
	if t.lead == nil {
		return t
	}
	defer g.pass()
	return s.lead(ctx, w, t.lead)
}

// lead sends a group, and tells the others what became of it. If it was undone, for
// whichever of them, each goes on alone.
func (s *Store) lead(ctx context.Context, w *rowsToWrite, all []*member) turn {
	if len(all) == 1 {
		return turn{err: s.sendAlone(ctx, w, all[0])}
	}
	err := s.sendOnce(context.WithoutCancel(ctx), s.epochsOf(ctx, all))
	t := turn{err: err, alone: err != nil && !errors.Is(err, store.ErrUnknownOutcome)}
	for _, other := range all[1:] {
		other.turn <- t
	}
	return t
}

// sendAlone sends a transaction of one epoch.
func (s *Store) sendAlone(ctx context.Context, w *rowsToWrite, m *member) error {
	e, err := s.epochOf(ctx, w, m)
	if err != nil {
		return err
	}
	return s.explain(ctx, w, s.send(ctx, e))
}

// hurried is how long an epoch that hurries waits for a lock, in milliseconds.
const hurried = "50"

// notNow tells that somebody held what an epoch needed, so that it was undone.
func notNow(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && severity(pg) == "ERROR" && pg.Code == "55P03"
}

// epochOf is a transaction of one epoch.
func (s *Store) epochOf(ctx context.Context, w *rowsToWrite, m *member) (*epoch, error) {
	c := m.commit
	f := filler{s.sql, &epoch{}, c}
	if m.hurries {
		_ = s.sql.Hurry(ctx, f.epoch, hurried)
	}
	f.begin(ctx, !m.hurries)
	f.body(ctx)
	if err := s.fillRows(ctx, f.epoch, w); err != nil {
		return nil, err
	}
	s.fillQueues(ctx, f.epoch, c.Appended, c.Positions)
	return f.epoch, nil
}

// epochsOf is a transaction of several: the fences first, in order of the
// partitions, and the locks of queues last (D-12, D-25). No fence waits, so that who
// holds one partition's row disturbs no other.
func (s *Store) epochsOf(ctx context.Context, all []*member) *epoch {
	e := &epoch{}
	ordered := slices.SortedFunc(slices.Values(all), func(a, b *member) int {
		return cmp.Compare(a.commit.Partition, b.commit.Partition)
	})
	var appended []store.QueueAppend
	var positions []store.QueuePosition
	for _, m := range ordered {
		(&filler{s.sql, e, m.commit}).begin(ctx, false)
	}
	for _, m := range ordered {
		(&filler{s.sql, e, m.commit}).body(ctx)
		appended = append(appended, m.commit.Appended...)
		positions = append(positions, m.commit.Positions...)
	}
	s.fillQueues(ctx, e, appended, positions)
	return e
}
