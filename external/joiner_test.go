package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/schema"
)

func listAll(t *testing.T, s *Scan) Answer {
	t.Helper()
	a, err := s.List(context.Background(), whole())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// failing is a disk of which the next reads fail.
func (r *rig) failing() *int {
	n := new(int)
	r.joiner.source.disk = &faultyDisk{fail: func() error {
		if *n > 0 {
			*n--
			return errors.New("the disk is gone")
		}
		return nil
	}}
	return n
}

func TestOutages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, numbered(3))
	ctx := context.Background()

	t.Run("JN-04 a failed read reaches the caller with the policy retry", func(t *testing.T) {
		r := newRig(t, path, "", "")
		n := r.failing()
		r.joiner.Set(DynamicParameters{ReadAttempts: 1, Backoff: time.Minute})
		*n = 1
		if a, err := r.scan().List(ctx, whole()); err == nil || !strings.Contains(err.Error(), "the disk is gone") || len(a.Entries) > 0 {
			t.Fatalf("%v %v", a, err)
		}
	})
	t.Run("JN-05 it makes the slice unknown with mark_unreadable", func(t *testing.T) {
		r := newRig(t, path, "", "unavailable_source_policy=mark_unreadable")
		n := r.failing()
		*n = 3
		if a := listAll(t, r.scan()); !a.Unreadable || len(a.Entries) > 0 {
			t.Fatalf("%+v", a)
		}
		if s := r.joiner.Status(); s.FailedReads != 3 || s.Unavailable == "" {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("JN-09 while the source rests, lists fail without a read", func(t *testing.T) {
		r := newRig(t, path, "", "")
		n := r.failing()
		*n = 3
		s := r.scan()
		_, _ = s.List(ctx, whole())
		before := r.joiner.Status()
		if _, err := s.List(ctx, whole()); err == nil || !strings.Contains(err.Error(), "read again in 5m0s") {
			t.Fatal(err)
		}
		if after := r.joiner.Status(); after != before || len(s.buckets) > 0 {
			t.Fatalf("%+v became %+v, %d positions", before, after, len(s.buckets))
		}
	})
	t.Run("JN-10 or stay unknown", func(t *testing.T) {
		r := newRig(t, path, "", "unavailable_source_policy=mark_unreadable")
		n := r.failing()
		*n = 3
		s := r.scan()
		listAll(t, s)
		before := r.joiner.Status()
		if a := listAll(t, s); !a.Unreadable {
			t.Fatalf("%+v", a)
		}
		if after := r.joiner.Status(); after != before {
			t.Fatalf("%+v became %+v", before, after)
		}
	})
	t.Run("JN-24 the first list after the back-off is the probe", func(t *testing.T) {
		r := newRig(t, path, "", "")
		n := r.failing()
		s := r.scan()
		*n = 3
		_, _ = s.List(ctx, whole())
		r.now = 5 * time.Minute / 2
		if _, err := s.List(ctx, whole()); err == nil || r.joiner.Status().FailedReads != 3 {
			t.Fatal("it was read too early")
		}
		*n, r.now = 3, 5*time.Minute
		if _, err := s.List(ctx, whole()); err == nil || r.joiner.Status().FailedReads != 6 {
			t.Fatal("it was not probed")
		}
		r.now = 9 * time.Minute
		if _, err := s.List(ctx, whole()); err == nil {
			t.Fatal("the failed probe did not renew the back-off")
		}
		r.now = 10 * time.Minute
		if a := listAll(t, s); len(a.Entries) != 3 || r.joiner.Status().Unavailable != "" {
			t.Fatal("it did not heal")
		}
	})
	t.Run("DIAG-08 the sensors of a joiner", func(t *testing.T) {
		r := newRig(t, path, "", "unavailable_source_policy=mark_unreadable")
		n := r.failing()
		s := r.scan()
		*n = 3
		for range 3 { // two of them while it rests
			listAll(t, s)
		}
		if got := r.joiner.Status(); got.FailedReads != 3 || got.Unavailable == "" || got.ReaderOpens != 0 || got.Listed != 0 {
			t.Errorf("%+v", got)
		}
		r.now = 5 * time.Minute
		listAll(t, s)
		if got := r.joiner.Status(); got.FailedReads != 3 || got.Unavailable != "" || got.ReaderOpens != 1 || got.Listed != 3 || got.Rows != 3 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("read_attempts are made at once", func(t *testing.T) {
		r := newRig(t, path, "", "")
		n := r.failing()
		*n = 2
		if a := listAll(t, r.scan()); len(a.Entries) != 3 || r.joiner.Status().FailedReads != 2 {
			t.Fatalf("%+v", r.joiner.Status())
		}
	})
	t.Run("a failed re-read withdraws what was absent", func(t *testing.T) {
		r := newRig(t, path, "", "unavailable_source_policy=mark_unreadable")
		n := r.failing()
		s := r.scan()
		listAll(t, s)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		*n = 0
		a := listAll(t, s)
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		if !a.Unreadable {
			t.Fatal("a table that is gone still answers")
		}
	})
}

func TestReading(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, map[string]int64{"a": 10, "b": 20})

	t.Run("JN-01 a list returns keys with their rows", func(t *testing.T) {
		r := newRig(t, path, "", "")
		s := r.scan()
		if a := listAll(t, s); len(a.Entries) != 2 || len(s.buckets[0].ahead) != 2 {
			t.Fatalf("%d keys, %d kept", len(a.Entries), len(s.buckets[0].ahead))
		}
	})
	t.Run("JN-14 one reader serves forward slices, wherever the columns stand", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "t.parquet")
		o, err := create(path, mustSchema(t,
			schema.Column{Name: "b", Type: schema.TypeUTF8}, schema.Column{Name: "hash", Type: schema.TypeUint64, Required: true},
			schema.Column{Name: "a", Type: schema.TypeInt64}, schema.Column{Name: "name", Type: schema.TypeUTF8, Required: true}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(10) {
			if err := o.write(schema.Row{schema.String("x"), schema.Uint64(i + 1), schema.Int64(int64(10 * (i + 1))), schema.String("n")}); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.finish(); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, path, "", "")
		r.joiner.source.groupBy = mustSchema(t, schema.Column{Name: "hash", Type: schema.TypeUint64, Required: true}, schema.Column{Name: "name", Type: schema.TypeUTF8, Required: true})
		s := r.scan()
		at := func(h uint64) string { return string(schema.AppendHash(nil, h)) }
		one, err1 := s.List(ctx, Slice{Upper: at(3), MaxRows: 100, MaxBytes: 1 << 20})
		two, err2 := s.List(ctx, Slice{Lower: at(3), Upper: at(6), MaxRows: 100, MaxBytes: 1 << 20})
		if err := errors.Join(err1, err2); err != nil || len(one.Entries) != 2 || len(two.Entries) != 3 {
			t.Fatal(len(one.Entries), len(two.Entries), err)
		}
		if n := r.joiner.Status().ReaderOpens; n != 1 {
			t.Errorf("%d readers", n)
		}
		row, columns := two.Entries[2].Row, two.Entries[2].Columns
		i, _ := columns.Index("a")
		if got := row[i].AsInt64(); got != 50 {
			t.Errorf("key 5 has a=%d", got)
		}
	})
	t.Run("JN-17 an empty batch is not the end", func(t *testing.T) {
		c := &parquetCursor{table: openTable(t, path)}
		if err := c.skipTo(0); err != nil {
			t.Fatal(err)
		}
		c.rows = &emptyFirst{Rows: c.rows, empty: 2}
		w := &walk{cursor: c, keyed: mustKeyed(t, c.table.columns)}
		defer c.close()
		for range 2 {
			if _, err := w.next(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTablesThatDoNotFit(t *testing.T) {
	t.Run("JN-21 keys of other names and types are refused, plain hashes are taken", func(t *testing.T) {
		for _, c := range []struct{ hash, name, typ, want string }{
			{"hash", "nome", "utf8", "no column name"},
			{"hash", "name", "int64", "column name is int64, and utf8 in group_by_schema"},
			{"hash", "name", "utf8", ""},
		} {
			typ, err := schema.ParseType(c.typ)
			if err != nil {
				t.Fatal(err)
			}
			_, err = newKeyed(groupBy(t), mustSchema(t, schema.Column{Name: c.hash, Type: schema.TypeUint64}, schema.Column{Name: c.name, Type: typ}))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

func TestShrunkTablesAreNotBelieved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	data := filepath.Join(dir, "data")
	writeTable(t, path, numbered(100))
	r := newRig(t, path, data, "")
	s := r.scan()
	if a := listAll(t, s); a.Doubtful {
		t.Fatal("the first version is doubted")
	}
	if err := r.joiner.PassCompleted(); err != nil {
		t.Fatal(err)
	}
	writeTable(t, path, numbered(50))
	if a := listAll(t, s); a.Doubtful {
		t.Fatal("half of it is doubted, which max_shrink_ratio allows")
	}
	writeTable(t, path, numbered(49))
	// Another process: what is remembered lies in the data folder.
	r = newRig(t, path, data, "")
	s = r.scan()
	if a := listAll(t, s); !a.Doubtful || len(a.Entries) != 49 {
		t.Fatalf("%+v", a)
	}
	if err := r.joiner.PassCompleted(); err != nil {
		t.Fatal(err)
	}
	if a := listAll(t, s); !a.Doubtful {
		t.Fatal("a pass over a doubtful table made it believed")
	}
	if _, err := newRig(t, path, data, "").joiner.Accept(context.Background()); err != nil {
		t.Fatal(err)
	}
	if a := listAll(t, s); a.Doubtful {
		t.Fatal("it was accepted")
	}
	if err := r.joiner.PassCompleted(); err != nil {
		t.Fatal(err)
	}
	writeTable(t, path, numbered(10))
	if a := listAll(t, s); !a.Doubtful {
		t.Fatal("what was accepted was that version")
	}
}

// TestNoBucketKeepsAReplacedTable replaces a table that a scan has positions in.
func TestNoBucketKeepsAReplacedTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, numbered(100))
	r := newRig(t, path, "", "")
	s := r.scan()
	list := func(bucket int) {
		t.Helper()
		if _, err := s.List(context.Background(), Slice{Bucket: bucket, MaxRows: 10, MaxBytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	for b := range 3 {
		list(b)
	}
	old := r.joiner.current
	writeTable(t, path, numbered(99))
	list(0)
	if old.users != 0 || len(s.buckets) != 1 {
		t.Errorf("after the list of one bucket the former table has %d users, and there are %d positions", old.users, len(s.buckets))
	}
	if _, err := old.file.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the former file is open: %v", err)
	}
}

// TestALengthIsRecordedOnceAndWithoutWaiting tells of completed passes while the table
// is being opened, which may take long.
func TestALengthIsRecordedOnceAndWithoutWaiting(t *testing.T) {
	dir := t.TempDir()
	path, data := filepath.Join(dir, "t.csv"), filepath.Join(dir, "data")
	writeTable(t, path, numbered(3))
	r := newRig(t, path, data, "")
	listAll(t, r.scan())
	r.joiner.opening <- struct{}{}
	complete := func() {
		t.Helper()
		if err := r.joiner.PassCompleted(); err != nil {
			t.Fatal(err)
		}
	}
	complete()
	<-r.joiner.opening
	file := filepath.Join(r.joiner.record.dir, passFile)
	if rows, err := r.joiner.record.rows(); rows != 3 || err != nil {
		t.Fatal(rows, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	complete()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("what is known was written once more")
	}
	writeTable(t, path, numbered(4))
	listAll(t, r.scan())
	complete()
	if rows, err := r.joiner.record.rows(); rows != 4 || err != nil {
		t.Error(rows, err)
	}
}

// TestNoPassIsRecordedBeforeItsTableIsBelieved completes a pass in the moment in which
// a short table is looked at: that must not make it the measure of itself.
func TestNoPassIsRecordedBeforeItsTableIsBelieved(t *testing.T) {
	dir := t.TempDir()
	path, data := filepath.Join(dir, "t.csv"), filepath.Join(dir, "data")
	writeTable(t, path, numbered(100))
	r := newRig(t, path, data, "")
	listAll(t, r.scan())
	if err := r.joiner.PassCompleted(); err != nil {
		t.Fatal(err)
	}
	writeTable(t, path, numbered(10))
	v, err := r.joiner.source.open(context.Background(), wholly)
	if err != nil {
		t.Fatal(err)
	}
	r.joiner.place(v)
	defer r.joiner.release(v)
	if err := r.joiner.PassCompleted(); err != nil || r.joiner.before != 100 {
		t.Errorf("%d rows are recorded, %v", r.joiner.before, err)
	}
}
