package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// own is a table of a user's own, and a store that has adopted it.
type own struct {
	*testing.T
	url, schema, name string
	s                 *pgstore.Store
	form              *schema.Table
	id                store.TableID
}

const usersColumns = `[{name=hash;type=uint64;sort_order=ascending;expression="farm_hash(name)"};{name=name;type=utf8;sort_order=ascending};
	{name=visits;type=int64;required=%true};{name=mail;type=utf8}]`

const usersTable = `CREATE TABLE %s (hash bytea NOT NULL, name text PRIMARY KEY, visits int NOT NULL CHECK (visits < 100), mail varchar(30) UNIQUE,
	extra text NOT NULL DEFAULT 'kept'); CREATE INDEX ON %[1]s (hash)`

func formOf(t *testing.T, columns string) *schema.Table {
	t.Helper()
	form, err := schema.ParseTable(fmt.Sprintf(`{format=1;columns=%s}`, columns))
	must(t, err)
	return form
}

// adopts makes a table and adopts it.
func adopts(t *testing.T, create, columns string) *own {
	t.Helper()
	url, schema := newURL()
	migrateUp(t, url)
	o := &own{T: t, url: url, schema: schema, name: schema + "_own", s: open(t, url, pgstore.Options{})}
	run(t, "public", fmt.Sprintf(create, o.name))
	o.form = formOf(t, columns)
	var err error
	o.id, err = o.s.AdoptTable(t.Context(), "//own", o.form.String(), "public."+o.name)
	must(t, err)
	return o
}

func users(t *testing.T) *own { return adopts(t, usersTable, usersColumns) }

// sql does something to the table, which is %s.
func (o *own) sql(format string, args ...any) {
	o.Helper()
	run(o, "public", fmt.Sprintf(format, append([]any{o.name}, args...)...))
}

func (o *own) row(values ...any) (key string, value []byte) {
	o.Helper()
	row := make(schema.Row, o.form.Columns().Len())
	for i, v := range values {
		switch v := v.(type) {
		case string:
			row[i+1] = schema.String(v)
		case int:
			row[i+1] = schema.Int64(int64(v))
		}
	}
	key, value, err := o.form.Encode(row)
	must(o.T, err)
	return key, value
}

func (o *own) put(values ...any) store.TableWrite {
	key, value := o.row(values...)
	return store.TableWrite{Table: o.id, Key: key, Value: value}
}

// checked is put of a row that was read; were is nothing for no row.
func (o *own) checked(w store.TableWrite, were ...any) store.TableWrite {
	w.Checked = true
	if len(were) > 0 {
		_, w.Was = o.row(were...)
	}
	return w
}

// check is what the store says of the table, but its doubts.
func (o *own) check(writes bool) error {
	_, err := o.s.CheckTable(o.Context(), o.id, writes)
	return err
}

func (o *own) write(rows ...store.TableWrite) error { return o.s.WriteRows(o.Context(), rows) }

// holds wants rows of the table, as people see them.
func (o *own) holds(want ...string) {
	o.Helper()
	got := ask[[]string](o.T, fmt.Sprintf(`SELECT coalesce(array_agg(concat_ws(' ', name, visits, mail, extra) ORDER BY name), '{}') FROM public.%s`, o.name))
	if !slices.Equal(got, want) {
		o.Errorf("the table has %q, want %q", got, want)
	}
}

// listed are the rows that a list has.
func (o *own) listed(r store.ListRequest) (rows []string, a *store.ListAnswer) {
	o.Helper()
	a, err := o.s.ListRows(o.Context(), o.id, r)
	must(o.T, err)
	for _, k := range a.Keys {
		row, err := o.form.Decode(k.Key, k.Rows[0].Value)
		must(o.T, err)
		rows = append(rows, row[1].AsString())
	}
	return rows, a
}

// fails wants an error of a class that says something.
func fails(t *testing.T, err error, class error, texts ...string) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Fatalf("got %v, want %v", err, class)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
}

func TestRowsOfAUsersTableAreReadAndWritten(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, "a@x"), o.put("bob", 2, nil)))
	o.holds("ann 1 a@x kept", "bob 2 kept")
	if a, err := o.s.ListRows(t.Context(), o.id, store.ListRequest{KeysOnly: true}); err != nil || len(a.Keys) != 2 || len(a.Keys[0].Rows[0].Value) != 0 || a.Rows != 2 {
		t.Errorf("listed %+v", a)
	}
	key, value := o.row("ann", 1, "a@x")
	none, _ := o.row("cat", 1)
	got, err := o.s.GetRows(t.Context(), o.id, []string{none, key, key})
	must(t, err)
	if len(got[0]) != 0 || string(got[1]) != string(value) || string(got[2]) != string(value) {
		t.Errorf("got %x", got)
	}
	o.sql("UPDATE %s SET extra = 'mine' WHERE name = 'ann'")
	del := o.checked(o.put("bob", 0), "bob", 2, nil)
	del.Value = nil
	must(t, o.write(o.checked(o.put("ann", 2, "b@x"), "ann", 1, "a@x"), del, o.checked(o.put("cat", 3, nil))))
	o.holds("ann 2 b@x mine", "cat 3 kept")
	all, err := o.s.Tables(t.Context())
	must(t, err)
	if len(all) != 1 || all[0].Relation != "public."+o.name {
		t.Errorf("tables %+v", all)
	}
	p := owned(t, o.s, 1)[0]
	c := numbered(p, 1)
	c.Rows = []store.TableWrite{o.checked(o.put("ann", 9, "b@x"), "ann", 2, "b@x")}
	must(t, o.s.Commit(t.Context(), c))
	o.holds("ann 9 b@x mine", "cat 3 kept")
	whole(t, o.s, p, 1)
}

// An epoch with rows of a user's table is one round trip too, and so is their read.
func TestRowsOfAUsersTableCrossTheNetworkOnce(t *testing.T) {
	o := users(t)
	must(t, o.s.Close())
	net := newCounted(t, server)
	o.s = open(t, net.url(server, o.schema), pgstore.Options{Connections: 1})
	p := owned(t, o.s, 1)[0]
	commit := func(n int) error {
		c := numbered(p, n)
		c.Rows = []store.TableWrite{o.put("ann", n, nil), o.checked(o.put(fmt.Sprint("new", n), 1, nil))}
		if n > 1 {
			c.Rows = append(c.Rows, o.checked(o.put(fmt.Sprint("new", n-1), 2, nil), fmt.Sprint("new", n-1), 1, nil))
		}
		return o.s.Commit(t.Context(), c)
	}
	key, _ := o.row("ann", 1, nil)
	read := func() error { _, err := o.s.GetRows(t.Context(), o.id, []string{key}); return err }
	must(t, commit(1), commit(2), read())
	net.crossed("a commit", 1, func() error { return commit(3) })
	net.crossed("a read", 1, read)
}

// KV-22: a row that is not what it was, that came, or that went, changes nothing.
func TestAUsersRowThatHasChangedIsAConflict(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, "a@x"), o.put("bob", 2, nil)))
	p := owned(t, o.s, 1)[0]
	gone := o.checked(o.put("ann", 1, "a@x"), "ann", 7, "a@x")
	gone.Value = nil
	absent := o.checked(o.put("bob", 1))
	absent.Value = nil
	for name, w := range map[string]store.TableWrite{
		"changed":      o.checked(o.put("ann", 5, nil), "ann", 2, "a@x"),
		"null before":  o.checked(o.put("bob", 5, nil), "bob", 2, "b@x"),
		"came":         o.checked(o.put("ann", 5, nil)),
		"went":         o.checked(o.put("cat", 5, nil), "cat", 1, nil),
		"removed":      gone,
		"to be absent": absent,
	} {
		c := numbered(p, 1)
		c.Rows = []store.TableWrite{o.put("zoe", 1, nil), w}
		if err := o.s.Commit(t.Context(), c); !errors.Is(err, store.ErrRowChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if err := o.write(c.Rows...); !errors.Is(err, store.ErrRowChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.holds("ann 1 a@x kept", "bob 2 kept")
	whole(t, o.s, p, 0)
}

// One that comes between the look and the write, and is seen by neither.
func TestAUsersRowThatComesMeanwhileIsAConflict(t *testing.T) {
	o := users(t)
	must(t, o.s.Close())
	o.s = open(t, o.url+"&application_name="+o.schema, pgstore.Options{})
	other := session(t, "public")
	does(t, other, fmt.Sprintf("BEGIN; INSERT INTO %s (hash, name, visits) VALUES ('\\x0000000000000000', 'ann', 1)", o.name))
	done := make(chan error, 1)
	w := o.checked(o.put("ann", 5, nil))
	go func() { done <- o.s.WriteRows(context.Background(), []store.TableWrite{w}) }()
	awaitLock(t, o.schema)
	does(t, other, "COMMIT")
	fails(t, <-done, store.ErrRowChanged, o.name)
	o.holds("ann 1 kept")
}

// One that changes or goes then is compared as it is once it is locked.
func TestAUsersRowThatChangesMeanwhileIsAConflict(t *testing.T) {
	for change, want := range map[string][]string{"UPDATE %s SET visits = 2": {"ann 2 kept"}, "DELETE FROM %s": {}} {
		o := users(t)
		must(t, o.write(o.put("ann", 1, nil)), o.s.Close())
		o.s = open(t, o.url+"&application_name="+o.schema, pgstore.Options{})
		other := session(t, "public")
		does(t, other, fmt.Sprintf("BEGIN; "+change, o.name))
		done := make(chan error, 1)
		w := o.checked(o.put("ann", 5, nil), "ann", 1, nil)
		go func() { done <- o.s.WriteRows(context.Background(), []store.TableWrite{w}) }()
		awaitLock(t, o.schema)
		does(t, other, "COMMIT")
		fails(t, <-done, store.ErrRowChanged, o.name)
		o.holds(want...)
	}
}

func TestAUsersTableIsListedInOrderOfItsKeys(t *testing.T) {
	o := adopts(t, `CREATE TABLE %s (hash numeric(20) NOT NULL, name text COLLATE "en-US-x-icu" NOT NULL, n bigint NOT NULL, PRIMARY KEY (name, n)); CREATE INDEX ON %[1]s (hash)`,
		`[{name=hash;type=uint64;sort_order=ascending;expression="farm_hash(n)"};{name=name;type=utf8;sort_order=ascending};{name=n;type=int64;sort_order=ascending}]`)
	var keys []string
	for i := range 300 {
		w := o.put(fmt.Sprintf("%c%d", "aBcZé"[i%4], i%7), i/40) // few hashes, with many rows each
		keys = append(keys, w.Key)
		must(t, o.write(w))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	all := func(r store.ListRequest) (got []string) {
		for {
			a, err := o.s.ListRows(t.Context(), o.id, r)
			must(t, err)
			for _, k := range a.Keys {
				if k.Key >= r.Lower { // CompleteTo of a full answer is its last key
					got = append(got, k.Key)
				}
			}
			if a.Complete {
				return slices.Compact(got)
			}
			r.Lower = a.CompleteTo
		}
	}
	for _, r := range []store.ListRequest{{}, {KeysOnly: true}, {KeysOnly: true, MaxBytes: 300}, {MaxRows: 7}, {MaxBytes: 200}, {MaxWork: 5}} {
		if got := all(r); !slices.Equal(got, keys) {
			t.Fatalf("list %+v has %d rows, want %d", r, len(got), len(keys))
		}
	}
	// Every cut of a key is a bound, also in the middle of a column.
	for _, lower := range []string{keys[50], keys[50] + "\x00", keys[50][:9], keys[50][:12], keys[120][:len(keys[120])-3]} {
		for _, upper := range []string{"", keys[200], keys[200] + "\x00", keys[200][:11], keys[200][:9]} {
			var want []string
			for _, k := range keys {
				if k >= lower && (upper == "" || k < upper) {
					want = append(want, k)
				}
			}
			if got := all(store.ListRequest{Lower: lower, Upper: upper, MaxRows: 17}); !slices.Equal(got, want) {
				t.Errorf("from %x to %x: %d rows, want %d", lower, upper, len(got), len(want))
			}
		}
	}
}

func TestWhatADatabaseRefusesIsNamed(t *testing.T) {
	o := users(t)
	o.sql(`CREATE TABLE %s_mails (mail text PRIMARY KEY); INSERT INTO %[1]s_mails VALUES ('a@x'), ('b@x'), ('` + strings.Repeat("m", 31) + `')`)
	o.sql(`ALTER TABLE %s ADD CONSTRAINT known_mail FOREIGN KEY (mail) REFERENCES %[1]s_mails`)
	must(t, o.write(o.put("ann", 1, "a@x")))
	o.sql(`CREATE TABLE %s_refers (name text CONSTRAINT of_user REFERENCES %[1]s); INSERT INTO %[1]s_refers VALUES ('ann')`)
	p := owned(t, o.s, 1)[0]
	gone := o.put("ann", 1)
	gone.Value = nil
	table := "table public." + o.name + ", row name="
	for name, c := range map[string]struct {
		w     store.TableWrite
		texts []string
	}{
		"unique":      {o.put("eve", 1, "a@x"), []string{`"eve"`, "unique constraint " + o.name + "_mail_key", "(a@x)", "write other values"}},
		"check":       {o.put("eve", 100, nil), []string{`"eve"`, "check constraint " + o.name + "_visits_check", "write what it allows"}},
		"foreign key": {o.put("eve", 1, "c@x"), []string{`"eve"`, "foreign key known_mail", "(c@x) is not present", "write the row that is referred to first"}},
		"referred to": {gone, []string{`"ann"`, "foreign key of_user", "still referenced", "remove those that refer"}},
		"length":      {o.put("eve", 1, strings.Repeat("m", 31)), []string{`"eve"`, "type of a column", "too long", "values that fit"}},
		"range":       {o.put("eve", 1<<40, nil), []string{`"eve"`, "type of a column", "integer out of range"}},
	} {
		t.Run(name, func(t *testing.T) {
			commit := numbered(p, 1)
			commit.Rows = []store.TableWrite{o.put("zoe", 1, nil), c.w, o.put("aaron", 1, nil)}
			fails(t, o.s.Commit(t.Context(), commit), store.ErrRefused, append(c.texts, table)...)
			fails(t, o.write(commit.Rows...), store.ErrRefused, append(c.texts, table)...)
		})
	}
	o.sql("ALTER TABLE %s ALTER CONSTRAINT known_mail DEFERRABLE INITIALLY DEFERRED") // told by the COMMIT
	late := numbered(p, 1)
	late.Rows = []store.TableWrite{o.put("eve", 1, "c@x"), o.put("zoe", 1, nil)}
	fails(t, o.s.Commit(t.Context(), late), store.ErrRefused, table+`"eve"`, "foreign key known_mail")
	o.sql(`CREATE FUNCTION %s_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not today''; END'; CREATE TRIGGER no BEFORE DELETE ON %[1]s FOR EACH ROW EXECUTE FUNCTION %[1]s_no()`)
	fails(t, o.write(o.put("zoe", 1, nil), gone), store.ErrRefused, table+`"ann"`, "a trigger", "not today")
	o.sql("ALTER TABLE %s ALTER COLUMN extra DROP DEFAULT")
	fails(t, o.write(o.put("eve", 1, nil)), store.ErrRefused, table+`"eve"`, "not null of column extra", "give it a default")
	o.holds("ann 1 a@x kept")
	whole(t, o.s, p, 0)
}

// A trigger may keep a row as it is without a word. What was to be written is then not
// written, and that is told.
func TestARowThatATriggerKeepsAsItIsIsNotTakenForWritten(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, nil)))
	o.sql(`CREATE FUNCTION %s_still() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	o.sql(`CREATE TRIGGER still BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %[1]s_still()`)
	p := owned(t, o.s, 1)[0]
	gone := o.put("ann", 1, nil)
	gone.Value = nil
	for name, w := range map[string]store.TableWrite{
		"made": o.put("eve", 1, nil), "made where none was read": o.checked(o.put("eve", 1, nil)), "written again": o.put("ann", 2, nil), "changed": o.checked(o.put("ann", 2, nil), "ann", 1, nil),
		"removed": gone, "removed as read": o.checked(gone, "ann", 1, nil),
	} {
		commit := numbered(p, 1)
		commit.Rows = []store.TableWrite{w}
		if err := o.s.Commit(t.Context(), commit); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			fails(t, err, store.ErrRefused, "table public."+o.name+", row name=", "a trigger that returns null (still)", "1 of the rows are as before")
		}
	}
	o.holds("ann 1 kept")
	whole(t, o.s, p, 0)
}

// A row that somebody holds is waited for, and then unavailable; other partitions go
// on meanwhile, those that write to the table too, however many wait: those who do
// take neither all lanes nor all connections.
func TestALockedRowOfAUserIsUnavailableAndStopsNobodyElse(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, nil)), o.s.Close())
	o.s = open(t, o.url+"&rondo_lock_timeout=1m", pgstore.Options{Connections: 4})
	parts := owned(t, o.s, 12)
	holder := session(t, "public")
	does(t, holder, fmt.Sprintf("BEGIN; SELECT FROM %s WHERE name = 'ann' FOR UPDATE", o.name))
	blocked := func(p store.Partition) *store.Commit {
		c := numbered(p, 1)
		c.Rows = []store.TableWrite{o.checked(o.put("ann", 5, nil), "ann", 1, nil)}
		return c
	}
	errs := make(chan error, 10)
	for _, p := range parts[:10] {
		go func() { errs <- o.s.Commit(context.Background(), blocked(p)) }()
	}
	await(t, func() bool {
		return ask[int](t, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%rows_are_as_read%'") > 0
	})
	for n := range 8 {
		c := numbered(parts[10], n+1)
		c.Rows = []store.TableWrite{o.put(fmt.Sprint("other", n), 1, nil)}
		must(t, o.s.Commit(t.Context(), c), o.s.Commit(t.Context(), numbered(parts[11], n+1)))
	}
	if len(errs) > 0 {
		t.Fatalf("somebody does not wait any more: %v", <-errs)
	}
	does(t, holder, "COMMIT")
	for range 10 {
		if err := <-errs; err != nil && !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
	must(t, o.s.Close())
	o.s = open(t, o.url+"&rondo_lock_timeout=100ms", pgstore.Options{})
	does(t, holder, fmt.Sprintf("BEGIN; SELECT FROM %s WHERE name = 'ann' FOR UPDATE", o.name))
	err := o.s.Commit(t.Context(), blocked(raise(t, o.s, parts[11].ID).Partition))
	fails(t, err, store.ErrUnavailable, "table public."+o.name, "locked by somebody else", "pg_blocking_pids")
	does(t, holder, "COMMIT")
}

// Nothing may read as absent that is there: a row whose hash is none of its key is an
// error with both.
func TestAHashThatIsNoneOfItsKeyIsToldAndMended(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, nil), o.put("bob", 2, nil)))
	o.sql(`UPDATE %s SET hash = '\x0000000000000007' WHERE name = 'ann'`)
	key, _ := o.row("ann", 1, nil)
	hash, err := schema.KeyHash(key)
	must(t, err)
	want := []string{`row name="ann"`, "column hash is 7u", fmt.Sprintf("farm_hash(name) gives %du", hash), "rondo table rehash"}
	_, err = o.s.GetRows(t.Context(), o.id, []string{key})
	fails(t, err, store.ErrRefused, want...)
	_, err = o.s.ListRows(t.Context(), o.id, store.ListRequest{})
	fails(t, err, store.ErrRefused, want...)
	done, err := pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: "//own", DryRun: true})
	must(t, err)
	if done.Read != 2 || done.Wrong != 1 || done.Changed != 0 || !strings.Contains(done.Example, "column hash is 7u") {
		t.Errorf("dry run: %+v", done)
	}
	done, err = pgstore.RehashTable(t.Context(), o.url, pgstore.Options{}, pgstore.Rehash{Table: "//own", Batch: 1})
	must(t, err)
	if done.Read != 2 || done.Wrong != 1 || done.Changed != 1 {
		t.Errorf("rehash: %+v", done)
	}
	if rows, _ := o.listed(store.ListRequest{}); len(rows) != 2 {
		t.Errorf("listed %v", rows)
	}
}

func TestWhatAUsersTableLacksIsNamed(t *testing.T) {
	url, schemaName := newURL()
	migrateUp(t, url)
	s := open(t, url, pgstore.Options{})
	name := schemaName + "_own"
	form := formOf(t, usersColumns).String()
	adopt := func() error {
		id, err := s.AdoptTable(t.Context(), "//own", form, name)
		if err == nil {
			_, err = s.CheckTable(t.Context(), id, true)
		}
		return err
	}
	fails(t, adopt(), store.ErrNoTable, "no table public."+name)
	for _, c := range []struct {
		sql   string
		texts []string
	}{
		{`CREATE TABLE %s (hash text, name text, visits boolean)`, []string{
			"column hash is text in the database, which holds no values of type uint64: make it bytea (8 bytes) or numeric(20)",
			"column visits is boolean", "make it bigint", "no column mail"}},
		{`DROP TABLE %s; CREATE TABLE %[1]s (hash bytea, name text, visits int, mail text)`, []string{
			"column hash may be null", "rondo table rehash fills it", "SET NOT NULL", `unique index of ("name")`, "no index that begins with column hash"}},
		{`ALTER TABLE %s ADD PRIMARY KEY (name), ALTER COLUMN hash SET NOT NULL`, []string{"CREATE INDEX ON"}},
		{`CREATE INDEX ON %s USING hash (hash)`, []string{"no index that begins with column hash"}},
		{`CREATE TABLE %s_child () INHERITS (%[1]s)`, []string{"other tables inherit from it"}},
		{`DROP TABLE %s_child; CREATE RULE kept AS ON DELETE TO %[1]s DO INSTEAD NOTHING`, []string{"it has rules"}},
		{`DROP RULE kept ON %s; ALTER TABLE %[1]s ALTER COLUMN hash TYPE numeric(19) USING 0`, []string{"column hash is numeric(19,0)", "numeric(20)"}},
		{`ALTER TABLE %s ALTER COLUMN hash TYPE bytea USING '\x0000000000000000'::bytea`, []string{"CREATE INDEX ON"}},
		{`CREATE INDEX ON %s (hash); DROP VIEW IF EXISTS v; ALTER TABLE %[1]s ADD COLUMN g int GENERATED ALWAYS AS (1) STORED`, nil},
		{`DROP TABLE %s; CREATE VIEW %[1]s AS SELECT 1`, []string{"it is no table"}},
	} {
		run(t, "public", fmt.Sprintf(c.sql, name))
		if err := adopt(); len(c.texts) > 0 || err != nil {
			fails(t, err, store.ErrRefused, c.texts...)
		}
	}
	for _, bad := range []string{"", "a.b.c", "no name", schemaName + ".tables"} {
		if _, err := s.AdoptTable(t.Context(), "//other", form, bad); err == nil {
			t.Errorf("%q was adopted", bad)
		}
	}
}

func TestRightsThatAreMissingAreNamed(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, nil)), o.s.Close())
	role := o.schema + "_reader"
	conn := session(t, "public")
	does(t, conn, fmt.Sprintf("CREATE ROLE %[1]s LOGIN; GRANT SELECT ON %[2]s TO %[1]s; GRANT USAGE ON SCHEMA %[3]s TO %[1]s; GRANT ALL ON ALL TABLES IN SCHEMA %[3]s TO %[1]s",
		role, o.name, o.schema))
	o.s = open(t, asRole(o.url, role), pgstore.Options{})
	key, _ := o.row("ann", 1, nil)
	_, err := o.s.GetRows(t.Context(), o.id, []string{key})
	must(t, err, o.check(false))
	want := []string{"user " + role + " may not INSERT, UPDATE, DELETE", "GRANT INSERT, UPDATE, DELETE ON", o.name}
	fails(t, o.check(true), store.ErrRefused, want...)
	fails(t, o.write(o.put("ann", 2, nil)), store.ErrRefused, want...)
	o.sql("GRANT ALL ON %s TO " + role)
	must(t, o.write(o.put("ann", 2, nil)))
	o.sql("REVOKE ALL ON %s FROM " + role)
	_, err = o.s.GetRows(t.Context(), o.id, []string{key})
	fails(t, err, store.ErrRefused, "may not SELECT")
	o.sql("DROP TABLE %s")
	must(t, o.s.Close())
	does(t, conn, "DROP OWNED BY "+role+"; DROP ROLE "+role)
}

// asRole is a URL for another user.
func asRole(url, role string) string { return strings.Replace(url, "user=rondo", "user="+role, 1) }

func TestAUsersTableMayBeAlteredWhileItIsUsed(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, "a@x")))
	key, value := o.row("ann", 1, "a@x")
	reads := func() error {
		got, err := o.s.GetRows(t.Context(), o.id, []string{key})
		if err == nil && string(got[0]) != string(value) {
			t.Errorf("got %x, want %x", got[0], value)
		}
		_, list := o.s.ListRows(t.Context(), o.id, store.ListRequest{})
		return errors.Join(err, list)
	}
	must(t, reads())
	o.sql("ALTER TABLE %s ADD COLUMN more int, ALTER COLUMN visits TYPE bigint, ALTER COLUMN mail TYPE text")
	must(t, reads(), o.write(o.put("bob", 3, nil)))
	o.sql("ALTER TABLE %s DROP COLUMN mail")
	fails(t, reads(), store.ErrRefused, "it has no column mail, which the schema has")
	fails(t, o.write(o.put("bob", 3, nil)), store.ErrRefused, "no column mail")
	o.sql("ALTER TABLE %s ADD COLUMN mail bytea")
	fails(t, reads(), store.ErrRefused, "column mail is bytea")
	o.sql("DROP TABLE %s")
	fails(t, reads(), store.ErrNoTable, "no table public."+o.name)
	fails(t, o.write(o.put("bob", 3, nil)), store.ErrNoTable, o.name)
	run(t, "public", fmt.Sprintf(usersTable, o.name))
	must(t, o.write(o.put("ann", 1, "a@x")), reads())
	o.sql("DROP INDEX %s_hash_idx")
	fails(t, o.check(false), store.ErrRefused, "no index that begins with column hash")
	o.sql("CREATE INDEX ON %s (hash)")
	must(t, o.check(true))
	must(t, o.s.DropTable(t.Context(), o.id)) // which leaves the user's as it is
	_, err := o.s.GetRows(t.Context(), o.id, []string{key})
	fails(t, err, store.ErrNoTable)
	fails(t, o.check(false), store.ErrNoTable)
	o.holds("ann 1 a@x kept")
}

// A table that another process has dropped is not read as one without rows.
func TestAUsersTableThatSomebodyElseDroppedIsGone(t *testing.T) {
	o := users(t)
	must(t, o.write(o.put("ann", 1, nil)))
	key, _ := o.row("ann", 1, nil)
	run(t, o.schema, "DELETE FROM tables")
	for _, keys := range [][]string{{key}, nil} {
		_, err := o.s.GetRows(t.Context(), o.id, keys)
		fails(t, err, store.ErrNoTable)
	}
	_, err := o.s.ListRows(t.Context(), o.id, store.ListRequest{Lower: key + "x"})
	fails(t, err, store.ErrNoTable)
	fails(t, o.write(o.put("ann", 2, nil)), store.ErrNoTable)
	o.holds("ann 1 kept")
}

func TestATableIsAdoptedOnce(t *testing.T) {
	o := users(t)
	again, err := o.s.AdoptTable(t.Context(), "//own", o.form.String(), "public."+o.name)
	must(t, err)
	if again != o.id {
		t.Errorf("id %d, want %d", again, o.id)
	}
	_, err = o.s.AdoptTable(t.Context(), "//other", o.form.String(), o.name)
	fails(t, err, store.ErrConflict, "//own")
	_, err = o.s.CreateTable(t.Context(), "//own", o.form.String())
	fails(t, err, store.ErrConflict, "public."+o.name)
	other, err := o.s.CreateTable(t.Context(), "//own#import", o.form.String())
	must(t, err)
	fails(t, o.s.RenameTable(t.Context(), other, "//own"), store.ErrConflict, "nothing is put")
}

func TestValuesOfAllTypesComeBackFromAUsersTable(t *testing.T) {
	o := adopts(t, `DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN short AS varchar(5);
		CREATE TABLE %s ("Hash %%" bytea NOT NULL, id uuid PRIMARY KEY, "a""b" smallint, u bigint, big numeric(20), f real, d double precision, b boolean,
		s bytea, j jsonb, m mood, at timestamptz, local timestamp, day date, y text, dom short); CREATE INDEX ON %[1]s ("Hash %%")`,
		`[{name="Hash %";type=uint64;sort_order=ascending;expression="farm_hash(id)"};{name=id;type=utf8;sort_order=ascending};{name="a\"b";type=int16};
		{name=u;type=uint32};{name=big;type=uint64};{name=f;type=float};{name=d;type=double};{name=b;type=boolean};{name=s;type=string};{name=j;type=utf8};
		{name=m;type=utf8};{name=at;type=timestamp};{name=local;type=datetime};{name=day;type=date};{name=y;type=any};{name=dom;type=utf8}]`)
	t.Cleanup(func() { o.sql("DROP TABLE %s; DROP TYPE mood; DROP DOMAIN short") })
	row := schema.Row{{}, schema.String("6b1b36cb-6f4c-4a2d-9c2c-0242ac120002"), schema.Int64(-3), schema.Uint64(4e9), schema.Uint64(1<<64 - 1), schema.Double(0.5), schema.Double(1e300), schema.Boolean(true),
		schema.String("\x00\xff"), schema.String(`{"x": 1}`), schema.String("ok"), schema.Uint64(976103940000001), schema.Uint64(976103940), schema.Uint64(11297), schema.Any("{x=1}"), schema.String("dom")}
	nulls := make(schema.Row, len(row))
	nulls[1] = schema.String("6b1b36cb-6f4c-4a2d-9c2c-0242ac120003")
	for _, row := range []schema.Row{row, nulls} {
		key, value, err := o.form.Encode(row)
		must(t, err)
		for range 2 { // put, and changed from what it was
			must(t, o.s.WriteRows(t.Context(), []store.TableWrite{{Table: o.id, Key: key, Value: value}}))
			must(t, o.s.WriteRows(t.Context(), []store.TableWrite{{Table: o.id, Key: key, Value: value, Checked: true, Was: value}}))
			got, err := o.s.GetRows(t.Context(), o.id, []string{key})
			must(t, err)
			back, err := o.form.Decode(key, got[0])
			if err != nil || !slices.Equal(back, row) {
				t.Errorf("%v came back as %v, %v", row, back, err)
			}
		}
		a, err := o.s.ListRows(t.Context(), o.id, store.ListRequest{Lower: key, Upper: key + "\x00"})
		must(t, err)
		if len(a.Keys) != 1 {
			t.Errorf("listed %d rows", len(a.Keys))
		}
	}
	o.sql("UPDATE %s SET at = 'infinity'")
	_, err := o.s.ListRows(t.Context(), o.id, store.ListRequest{})
	fails(t, err, store.ErrRefused, "column at: it is infinite")
	if day := ask[time.Time](t, fmt.Sprintf("SELECT day::timestamptz FROM public.%s WHERE day IS NOT NULL", o.name)); day.Format(time.DateOnly) != "2000-12-06" {
		t.Errorf("day %v", day)
	}
}

// A column that nobody fills keeps rows from being made, and a trigger or a function that
// makes none may be meant: it is a doubt.
func TestAColumnThatNobodyFillsIsADoubt(t *testing.T) {
	o := users(t)
	doubts := func(writes bool) []string {
		d, err := o.s.CheckTable(t.Context(), o.id, writes)
		must(t, err)
		return d
	}
	o.sql("CREATE DOMAIN %s_filled AS int DEFAULT 3; ALTER TABLE %[1]s ADD a int GENERATED ALWAYS AS IDENTITY, ADD b int NOT NULL GENERATED ALWAYS AS (visits + 1) STORED, ADD c %[1]s_filled NOT NULL, ADD d int")
	if d := doubts(true); len(d) != 0 {
		t.Errorf("all columns are filled: %q", d)
	}
	o.sql(`ALTER TABLE %s ADD "the time" timestamptz NOT NULL, ALTER extra DROP DEFAULT`)
	d := doubts(true)
	if len(d) != 2 || !strings.Contains(d[0], "column extra is not null, has no default") || !strings.Contains(d[1], `ALTER COLUMN "the time" SET DEFAULT`) {
		t.Errorf("got %q", d)
	}
	if d := doubts(false); len(d) != 0 {
		t.Errorf("rows are only read: %q", d)
	}
}
