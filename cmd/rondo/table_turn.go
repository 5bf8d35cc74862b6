package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/store"
)

// idleTurn is how long the data folder is kept between two requests. A command that
// waits longer, for its input or for who reads what it prints, waits for people:
// meanwhile others may have the folder.
const idleTurn = 200 * time.Millisecond

// turns are the tables of a store that is looked for when it is needed: it is held from
// one request to the next, and let go between two that do not follow each other. So a
// pipeline may start or stop meanwhile.
type turns struct {
	place *placeFlags
	io    *streams

	mu     sync.Mutex
	now    *openTables // nil while it is let go
	idle   *time.Timer // lets it go
	failed error       // of letting it go
}

// do makes a request. A pipeline that ends before it answers is looked for again.
func (t *turns) do(ctx context.Context, request func(ts store.Tables) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	for p := t.io.patience(answerWait); ; {
		err := t.open(ctx)
		if err == nil {
			err = request(t.now)
		}
		if !console.Ended(err) {
			t.wait()
			return err
		}
		t.letGo()
		if p.wait(ctx, fmt.Errorf("%w: %w", store.ErrLocked, err)) != nil {
			return err
		}
	}
}

// open looks for the store if it is not held.
func (t *turns) open(ctx context.Context) (err error) {
	if t.now == nil {
		t.now, err = t.place.openOnce(ctx, t.io, false)
	}
	return err
}

// wait begins the time in which the next request is expected.
func (t *turns) wait() {
	if t.idle != nil {
		t.idle.Reset(idleTurn)
		return
	}
	t.idle = time.AfterFunc(idleTurn, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.letGo()
	})
}

func (t *turns) letGo() {
	if t.now != nil {
		t.failed = errors.Join(t.failed, t.now.close())
		t.now = nil
	}
}

// end lets it go for good.
func (t *turns) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	t.letGo()
	return t.failed
}

// Tables and the following implement store.Tables.
func (t *turns) Tables(ctx context.Context) (out []store.Table, err error) {
	err = t.do(ctx, func(ts store.Tables) error { out, err = ts.Tables(ctx); return err })
	return out, err
}

func (t *turns) CreateTable(ctx context.Context, name, schema string) (id store.TableID, err error) {
	err = t.do(ctx, func(ts store.Tables) error { id, err = ts.CreateTable(ctx, name, schema); return err })
	return id, err
}

func (t *turns) RenameTable(ctx context.Context, id store.TableID, name string) error {
	return t.do(ctx, func(ts store.Tables) error { return ts.RenameTable(ctx, id, name) })
}

func (t *turns) DropTable(ctx context.Context, id store.TableID) error {
	return t.do(ctx, func(ts store.Tables) error { return ts.DropTable(ctx, id) })
}

func (t *turns) GetRows(ctx context.Context, id store.TableID, keys []string) (out [][]byte, err error) {
	err = t.do(ctx, func(ts store.Tables) error { out, err = ts.GetRows(ctx, id, keys); return err })
	return out, err
}

func (t *turns) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (out *store.ListAnswer, err error) {
	err = t.do(ctx, func(ts store.Tables) error { out, err = ts.ListRows(ctx, id, r); return err })
	return out, err
}

func (t *turns) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	return t.do(ctx, func(ts store.Tables) error { return ts.WriteRows(ctx, rows) })
}
