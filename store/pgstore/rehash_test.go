package pgstore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// rehashVariable makes the test's program a process that rehashes, and tells of each
// batch.
const rehashVariable = "RONDO_TEST_REHASH"

func rehashChild(url string) int {
	_, err := pgstore.RehashTable(context.Background(), url, pgstore.Options{}, pgstore.Rehash{
		Table: "//own", Batch: 10, Progress: func(r pgstore.Rehashed) { fmt.Println(r.Changed) },
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

const unhashed = `CREATE TABLE %s (hash bytea, name text PRIMARY KEY, visits int NOT NULL, mail text);
	INSERT INTO %[1]s (name, visits) SELECT 'user' || i, i FROM generate_series(1, 2000) i`

// hashed counts the rows that have a hash.
func (o *own) hashed() int64 { return ask[int64](o.T, "SELECT count(hash) FROM "+o.name) }

func TestARehashThatIsKilledGoesOn(t *testing.T) {
	o := adopts(t, unhashed, usersColumns)
	fails(t, o.check(true), store.ErrRefused, "column hash may be null", "rondo table rehash fills it")
	self, err := os.Executable()
	must(t, err)
	child := exec.Command(self)
	child.Env = append(os.Environ(), rehashVariable+"="+o.url)
	out, err := child.StdoutPipe()
	must(t, err, child.Start())
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "50"; {
	}
	must(t, child.Process.Kill())
	_ = child.Wait() // it was killed
	before := o.hashed()
	if before < 50 || before >= 2000 {
		t.Fatalf("%d rows have a hash: this proves nothing", before)
	}
	o.sql("UPDATE %s SET visits = -visits WHERE name = 'user7'") // others go on meanwhile
	steps := 0
	done, err := pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: "//own", Batch: 100, Progress: func(pgstore.Rehashed) { steps++ }})
	must(t, err)
	if left := 2000 - before; done.Read != 2000 || done.Wrong > left || done.Changed != done.Wrong || done.Changed < left-10 || steps != 20 {
		t.Errorf("it went on with %+v in %d steps, of %d rows", done, steps, left)
	}
	o.sql("ALTER TABLE %s ALTER COLUMN hash SET NOT NULL; CREATE INDEX ON %[1]s (hash)")
	must(t, o.check(true))
	rows, _ := o.listed(store.ListRequest{})
	if len(rows) != 2000 {
		t.Errorf("%d rows", len(rows))
	}
	again, err := pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: "//own", DryRun: true})
	must(t, err)
	if again.Wrong != 0 || again.Read != 2000 {
		t.Errorf("again: %+v", again)
	}
	if n := ask[int](t, fmt.Sprintf("SELECT visits FROM %s WHERE name = 'user7'", o.name)); n != -7 {
		t.Errorf("a rehash wrote over the update: %d", n)
	}
}

// Rows that were changed between the batch's look and its write are what they became,
// and their hash is right.
func TestARehashWaitsForThoseWhoChangeRows(t *testing.T) {
	o := adopts(t, unhashed, usersColumns)
	other := session(t, "public")
	does(t, other, fmt.Sprintf("BEGIN; UPDATE %s SET visits = -1 WHERE name = 'user5'", o.name))
	done := make(chan error, 1)
	go func() {
		_, err := pgstore.RehashTable(context.Background(), o.url+"&application_name="+o.schema, pgstore.Options{}, pgstore.Rehash{Table: "//own"})
		done <- err
	}()
	awaitLock(t, o.schema)
	does(t, other, "COMMIT")
	must(t, <-done)
	if n := o.hashed(); n != 2000 {
		t.Errorf("%d rows have a hash", n)
	}
	must(t, o.s.Close())
	does(t, other, fmt.Sprintf("BEGIN; UPDATE %s SET hash = NULL", o.name))
	_, err := pgstore.RehashTable(t.Context(), o.url+"&rondo_lock_timeout=50ms", pgstore.Options{}, pgstore.Rehash{Table: "//own", Batch: 500})
	must(t, err) // what is not committed is not seen
	does(t, other, fmt.Sprintf("COMMIT; BEGIN; SELECT FROM %s WHERE name = 'user5' FOR UPDATE", o.name))
	_, err = pgstore.RehashTable(t.Context(), o.url+"&rondo_lock_timeout=50ms", pgstore.Options{}, pgstore.Rehash{Table: "//own", Batch: 500})
	fails(t, err, store.ErrUnavailable, "table public."+o.name, "rows were changed, and the same command goes on")
}

func TestWhatCannotBeRehashedIsTold(t *testing.T) {
	o := adopts(t, unhashed, usersColumns)
	rehash := func(table string) error {
		_, err := pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: table})
		return err
	}
	_, err := o.s.CreateTable(t.Context(), "//stored", o.form.String())
	must(t, err)
	fails(t, rehash("//none"), store.ErrNoTable, "--sql")
	if err := rehash("//stored"); err == nil || !strings.Contains(err.Error(), "nothing to rehash") {
		t.Error(err)
	}
	o.sql("ALTER TABLE %s ADD CHECK (hash IS NULL)")
	fails(t, rehash("//own"), store.ErrRefused, "check constraint")
	o.sql("ALTER TABLE %s DROP CONSTRAINT %[1]s_pkey")
	fails(t, rehash("//own"), store.ErrRefused, `unique index of ("name")`)
}

// A trigger may keep a hash as it is without a word: then it is not told as done.
func TestARehashThatATriggerKeepsFromWritingSaysSo(t *testing.T) {
	o := adopts(t, unhashed, usersColumns)
	o.sql(`CREATE FUNCTION %s_still() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	o.sql(`CREATE TRIGGER still BEFORE UPDATE ON %s FOR EACH ROW WHEN (old.name = 'user7') EXECUTE FUNCTION %[1]s_still()`)
	_, err := pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: "//own"})
	fails(t, err, store.ErrRefused, "table public."+o.name, "1 rows are as before", "a trigger that returns null (still)")
}
