package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var tableTests = map[string]func(t *testing.T, h Harness){
	"a table is made once and keeps its schema": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("//any/path")
		other := w.table("b")
		w.equal("id", w.table("//any/path"), id)
		_, err := w.CreateTable(w.ctx, "b", "another")
		w.isClass(err, store.ErrConflict)
		want := fmt.Sprintf("[{Name://any/path ID:%d Schema:schema of //any/path Relation:} {Name:b ID:%d Schema:schema of b Relation:}]", id, other)
		for range 2 {
			all, err := w.Tables(w.ctx)
			w.check(err)
			w.equal("tables", all, want)
			w.reopen()
		}
		w.equal("id", w.table("b"), other)
	},
	"names that cannot be are refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		for _, name := range []string{"", "a\x00b"} {
			_, err := w.CreateTable(w.ctx, name, "s")
			w.isClass(err, nil)
			w.isClass(w.RenameTable(w.ctx, w.table("t"), name), nil)
		}
	},
	"rows are those written last, in order of their keys": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		a, b := w.table("a"), w.table("b")
		w.write(b, "\xff\xff=other", "\x00=other")
		w.write(a, "c=3", "a=1", "b=2")
		w.must(0, writes(a, "b=22", "d=4"), writes(b, "b=b"))
		w.must(1, writes(a, "a="))
		w.holds(a, "b=22 c=3 d=4")
		w.holds(b, "\x00=other b=b \xff\xff=other")
		w.reopen()
		w.holds(a, "b=22 c=3 d=4")
		got, err := w.GetRows(w.ctx, a, []string{"d", "a", "b", "d", "\xff"})
		w.check(err)
		w.equal("rows", fmt.Sprintf("%s", got), "[4  22 4 ]")
		none, err := w.GetRows(w.ctx, a, nil)
		w.check(err)
		w.equal("no rows", len(none), 0)
	},
	"the store keeps copies of rows": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		rows := rowsOf(id, "a=kept", "b=kept")
		w.check(w.Commit(w.ctx, w.commit(0, func(c *store.Commit) { c.Rows = rows[:1] })))
		w.check(w.WriteRows(w.ctx, rows[1:]))
		for _, r := range rows {
			copy(r.Value, "lost")
		}
		w.holds(id, "a=kept b=kept")
	},
	"a list of rows keeps its bounds and limits": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		w.write(id, "a=1", "b=22", "c=333", "d=4444")
		for _, c := range []struct {
			r    store.ListRequest
			want string
		}{
			{store.ListRequest{Lower: "b", Upper: "d", Computation: "left", Names: []string{"/x"}}, `complete rows=2 bytes=7: "b"(3){""="22"} "c"(4){""="333"}`},
			{store.ListRequest{MaxRows: 2}, `to "b" rows=2 bytes=5: "a"(2){""="1"} "b"(3){""="22"}`},
			{store.ListRequest{MaxRows: 4}, `to "d" rows=4 bytes=14: "a"(2){""="1"} "b"(3){""="22"} "c"(4){""="333"} "d"(5){""="4444"}`},
			{store.ListRequest{MaxBytes: 8}, `to "c" rows=2 bytes=5: "a"(2){""="1"} "b"(3){""="22"}`},
			{store.ListRequest{Lower: "c", MaxBytes: 1}, `to "d" rows=1 bytes=4: "c"(4){""="333"}`},
			{store.ListRequest{MaxWork: 3}, `to "d" rows=3 bytes=9: "a"(2){""="1"} "b"(3){""="22"} "c"(4){""="333"}`},
			{store.ListRequest{Lower: "e"}, "complete rows=0 bytes=0:"},
			{store.ListRequest{KeysOnly: true, MaxBytes: 3}, `to "d" rows=3 bytes=3: "a"(1){""=""} "b"(1){""=""} "c"(1){""=""}`},
			{store.ListRequest{KeysOnly: true, Lower: "b", Upper: "d"}, `complete rows=2 bytes=2: "b"(1){""=""} "c"(1){""=""}`},
		} {
			a, err := w.ListRows(w.ctx, id, c.r)
			w.check(err)
			w.equal(fmt.Sprintf("list %+v", c.r), describeAnswer(a), c.want)
		}
	},
	"values of any bytes and sizes come back as they were": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		long := string(make([]byte, 300_000))
		w.check(w.WriteRows(w.ctx, []store.TableWrite{
			{Table: id, Key: "\x00\xff\x00\x01", Value: []byte("\x00")}, {Table: id, Key: "\xff", Value: []byte(long)},
		}))
		w.reopen()
		got, err := w.GetRows(w.ctx, id, []string{"\xff", "\x00\xff\x00\x01"})
		w.check(err)
		if string(got[0]) != long || string(got[1]) != "\x00" {
			t.Fatalf("got %d bytes and %q", len(got[0]), got[1])
		}
	},
	"a row that is not what it had to be changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		w.queue("q", 1)
		w.write(id, "a=1")
		w.must(0, writes(id, "a:1=2", "b:=3"))
		for _, wrong := range []string{"a:1=x", "a:=x", "b:=x", "c:1=x", "c:1=", "a:22=x"} {
			w.refuses(store.ErrConflict, w.commit(0, set("a", "/x", "1"), writes(id, "z=1", wrong), appends("q/0=x")))
			before := w.dump()
			err := w.WriteRows(w.ctx, rowsOf(id, "z=1", wrong))
			w.isClass(err, store.ErrConflict)
			if !errors.Is(err, store.ErrRowChanged) {
				t.Errorf("it does not say that a row has changed: %v", err)
			}
			w.equal("dump", w.dump(), before)
		}
		w.must(0, writes(id, "a:2=", "b:3=4", "c:="))
		w.write(id, "a:=5", "c:=")
		w.holds(id, "a=5 b=4")
	},
	"a commit that names no table changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		w.refuses(store.ErrNoTable, w.commit(0, set("a", "/x", "1"), writes(id, "a=1"), writes(id+1, "a=1")))
		w.isClass(w.WriteRows(w.ctx, append(rowsOf(id, "a=1"), row(id+1, "a=1"))), store.ErrNoTable)
		_, get := w.GetRows(w.ctx, id+1, []string{"a"})
		_, list := w.ListRows(w.ctx, id+1, store.ListRequest{})
		for _, err := range []error{get, list, w.DropTable(w.ctx, id+1), w.RenameTable(w.ctx, id+1, "x")} {
			w.isClass(err, store.ErrNoTable)
		}
		w.holds(id, "")
	},
	// D-2
	"a commit that fails writes no rows": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		stale := w.commit(0, writes(id, "a=stale"))
		w.raise(0)
		w.refuses(store.ErrFenced, stale)
		w.refuses(store.ErrNoQueue, w.commit(0, writes(id, "a=1"), appends("none/0=x")))
		w.must(0, writes(id, "a:=1"))
		w.holds(id, "a=1")
	},
	"rows that cannot be are refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		w.refuses(nil, w.commit(0, writes(id, "a=1", "a=2")))
		w.refuses(nil, w.commit(0, writes(id, "=1")))
		w.refuses(nil, w.commit(0, writes(0, "a=1")))
		w.isClass(w.WriteRows(w.ctx, rowsOf(id, "b=1", "b=")), nil)
		w.write(id)
		w.holds(id, "")
	},
	"a dropped table is gone, and one of its name is another": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id, other := w.table("t"), w.table("tt")
		w.write(id, "a=1")
		w.write(other, "a=2")
		w.check(w.DropTable(w.ctx, id))
		w.isClass(w.DropTable(w.ctx, id), store.ErrNoTable)
		w.refuses(store.ErrNoTable, w.commit(0, writes(id, "a=3")))
		w.reopen()
		again := w.table("t")
		if again == id || again == other {
			t.Fatalf("the id %d was used before", again)
		}
		w.holds(again, "")
		w.holds(other, "a=2")
	},
	"a table may take the place of another at once": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		former, next := w.table("t"), w.table("t.new")
		w.write(former, "a=1")
		w.write(next, "b=2")
		w.check(w.RenameTable(w.ctx, next, "t"))
		w.check(w.RenameTable(w.ctx, next, "t")) // its own name
		w.isClass(w.RenameTable(w.ctx, former, "u"), store.ErrNoTable)
		w.refuses(store.ErrNoTable, w.commit(0, writes(former, "a=3")))
		for range 2 {
			all, err := w.Tables(w.ctx)
			w.check(err)
			w.equal("tables", all, fmt.Sprintf("[{Name:t ID:%d Schema:schema of t.new Relation:}]", next))
			w.holds(next, "b=2")
			w.reopen()
		}
	},
	"readers see the one table or the other, whole, while one takes its place": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.write(w.table("t"), "a=1", "b=1")
		replaced := make(chan error, 1)
		go func() { replaced <- w.replace("t", 30) }()
		for done := false; !done; {
			select {
			case err := <-replaced:
				w.check(err)
				done = true
			default:
			}
			id := w.named("t")
			switch a, err := w.ListRows(w.ctx, id, store.ListRequest{}); {
			case outcome(err) == store.ErrNoTable.Error():
				if w.named("t") == id {
					t.Fatalf("table %d cannot be read, and has its name", id)
				}
			case err != nil:
				w.check(err)
			case len(a.Keys) != 2:
				t.Fatalf("%d rows of table %d", len(a.Keys), id)
			}
		}
	},
	// One of the two sees what the other wrote.
	"two who change one row by what it was never lose a change": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		const each = 25
		var group sync.WaitGroup
		failed := make(chan error, 2)
		for i := range 2 {
			group.Add(1)
			go func() {
				defer group.Done()
				for done := 0; done < each; {
					is, err := w.GetRows(w.ctx, id, []string{"n"})
					if err != nil {
						failed <- err
						return
					}
					n := 0
					_, _ = fmt.Sscan(string(is[0]), &n)
					next := store.TableWrite{Table: id, Key: "n", Value: fmt.Append(nil, n+1), Checked: true, Was: is[0]}
					if i == 0 {
						err = w.WriteRows(w.ctx, []store.TableWrite{next})
					} else {
						err = w.Commit(w.ctx, w.commit(1, func(c *store.Commit) { c.Rows = []store.TableWrite{next} }))
					}
					if err == nil {
						done++
					} else if outcome(err) != store.ErrConflict.Error() {
						failed <- err
						return
					}
				}
			}()
		}
		group.Wait()
		select {
		case err := <-failed:
			w.check(err)
		default:
		}
		w.holds(id, fmt.Sprintf("n=%d", 2*each))
	},
	"calls on tables after Close fail": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		id := w.table("t")
		w.check(w.Close())
		_, list := w.Tables(w.ctx)
		_, create := w.CreateTable(w.ctx, "t", "s")
		_, get := w.GetRows(w.ctx, id, []string{"a"})
		_, rows := w.ListRows(w.ctx, id, store.ListRequest{})
		for _, err := range []error{
			list, create, get, rows, w.DropTable(w.ctx, id), w.RenameTable(w.ctx, id, "x"), w.WriteRows(w.ctx, rowsOf(id, "a=1")),
		} {
			w.isClass(err, store.ErrUnavailable)
		}
	},
}

// fillTables puts rows into tables: kept, changed, deleted; and drops a table.
func fillTables(w *world) {
	w.t.Helper()
	id := w.table("t")
	w.write(id, "a=1", "b=2", "c=3")
	w.must(1, writes(id, "b:2=22", "c="))
	dropped := w.table("dropped")
	w.write(dropped, "a=1")
	w.check(w.DropTable(w.ctx, dropped))
}

// writtenBy counts the rows of the first table that wholeCommit wrote for a
// partition.
func (w *world) writtenBy(id store.PartitionID) int64 {
	w.t.Helper()
	prefix := fmt.Sprintf("%d-", id)
	a, err := w.ListRows(w.ctx, 1, store.ListRequest{Lower: prefix, Upper: prefix + "\xff"})
	w.check(err)
	return int64(len(a.Keys))
}
