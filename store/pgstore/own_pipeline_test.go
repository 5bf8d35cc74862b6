package pgstore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// adder adds what messages say to the rows of a user's table, and a thousand with
// each visit.
type adder struct{}

func add(row flow.ExternalRow, n int64) error {
	is, there, err := row.Get()
	if err != nil {
		return err
	}
	var sum int64
	if there {
		sum = is.Int64("sum")
	}
	return row.Edit().Set("sum", sum+n).Save()
}

func (adder) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return add(flow.OpenExternal(rt, "/sums", m), m.Payload.Int64("n"))
}

func (adder) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	return add(flow.OpenExternal(rt, "/sums", v), 1000)
}

const sums = `
spec:
  streams: {words: {schema: [{name: name, type: string, required: true}, {name: n, type: int64}]}}
  computations:
    reader:
      computation_class_name: source_passthrough
      output_stream_ids: [words]
      source_streams: {file: {source_class_name: file, parameters: {path: words.csv, format: csv, finite: true}}}
    adder:
      computation_class_name: transform
      processing_function: adder
      group_by_schema: [{name: hash, type: uint64, required: true, expression: farm_hash(name)}, {name: name, type: string}]
      input_stream_ids: [words]
      external_state_managers: {/sums: {class_name: simple, parameters: {path: //own}}}
      key_visitor_streams: {sweep: {external_names: [/sums]}}
dynamic_spec:
  computations:
    adder: {desired_partition_count: 4, max_rows_per_batch: 30, key_visitor_streams: {sweep: {period: 1s}}}
`

const (
	sumsTable   = `CREATE TABLE %s (hash bytea NOT NULL, name text PRIMARY KEY, sum bigint NOT NULL); CREATE INDEX ON %[1]s (hash)`
	sumsColumns = `[{name=hash;type=uint64;sort_order=ascending;expression="farm_hash(name)"};{name=name;type=utf8;sort_order=ascending};{name=sum;type=int64;required=%true}]`
)

// said keeps a log.
type said struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.text.Write(b)
}

func (s *said) count(text string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return strings.Count(s.text.String(), text)
}

// adderOver prepares the pipeline over messages of some names, each n times with a 1.
func adderOver(t *testing.T, log *said, names, n int) *engine.Pipeline {
	t.Helper()
	return functionOver(t, sums, adder{}, log, names, n)
}

func functionOver(t *testing.T, text string, f flow.Function, log *said, names, n int) *engine.Pipeline {
	t.Helper()
	dir := t.TempDir()
	words := bytes.NewBufferString("name,n\n")
	for i := range names * n {
		fmt.Fprintf(words, "w%d,1\n", i%names)
	}
	must(t, os.WriteFile(filepath.Join(dir, "words.csv"), words.Bytes(), 0o600))
	var functions flow.Registry
	var connectors connector.Registry
	must(t, functions.Register("adder", func(flow.Setup) (flow.Function, error) { return f, nil }), file.Register(&connectors))
	parsed, err := spec.Parse("sums.yaml", []byte(text))
	must(t, err)
	p, err := engine.Prepare(t.Context(), engine.Options{
		Spec: parsed, Functions: &functions, Connectors: &connectors, SpecDir: dir, DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	must(t, err)
	return p
}

// outsider changes rows of a table as fast as it can, and keeps a book of what it
// added and took away.
type outsider struct {
	table  string
	hashes [][]byte // of the names
	added  map[string]int64
}

func (o *outsider) work(ctx context.Context, conn *pgx.Conn, step int) error {
	for i := step; ctx.Err() == nil; i += 7 {
		at := 1 + i%(len(o.hashes)-1) // the first is another's
		name := fmt.Sprintf("w%d", at)
		if i%5 > 0 {
			sql, args := "UPDATE "+o.table+" SET sum = sum + 1 WHERE name = $1", []any{name}
			if i%5 == 1 {
				sql, args = "INSERT INTO "+o.table+" (name, hash, sum) VALUES ($1, $2, 1) ON CONFLICT (name) DO NOTHING", append(args, o.hashes[at])
			}
			tag, err := conn.Exec(context.WithoutCancel(ctx), sql, args...)
			if err != nil {
				return err
			}
			o.added[name] += tag.RowsAffected()
			continue
		}
		var sum int64
		err := conn.QueryRow(context.WithoutCancel(ctx), "DELETE FROM "+o.table+" WHERE name = $1 RETURNING sum", name).Scan(&sum)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		o.added[name] -= sum
	}
	return nil
}

// disturbed is an adder whose first messages of w0 see its row change as soon as they
// have read it: it comes, changes and goes. They are of three epochs of one partition.
type disturbed struct {
	adder
	outsider
	conn *pgx.Conn
	seen map[flow.MessageID]bool
}

func (d *disturbed) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	err := d.adder.OnMessage(ctx, rt, m, out)
	if err != nil || m.Payload.String("name") != "w0" || d.seen[m.ID] || len(d.seen) == 3 {
		return err
	}
	sql := []string{
		"INSERT INTO %s (name, hash, sum) VALUES ('w0', $1, 5) RETURNING 5::bigint",
		"UPDATE %s SET sum = sum + 1 WHERE hash = $1 AND name = 'w0' RETURNING 1::bigint",
		"DELETE FROM %s WHERE hash = $1 AND name = 'w0' RETURNING -sum",
	}[len(d.seen)]
	d.seen[m.ID] = true
	var added int64
	err = d.conn.QueryRow(ctx, fmt.Sprintf(sql, d.table), d.hashes[0]).Scan(&added)
	d.added["w0"] += added
	return err
}

// KV-22: what others write into the rows of a user's table, between the moment in
// which an epoch reads them and that of its commit, is never written over: neither a
// change, nor a row that went, nor one that came.
func TestNoUpdateOfAUsersTableIsLostUnderLoad(t *testing.T) {
	o := adopts(t, sumsTable, sumsColumns)
	log := &said{}
	const names, messages = 300, 12
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var hashes [][]byte
	for i := range names {
		key, _ := o.row(fmt.Sprintf("w%d", i), 0)
		hash, err := schema.KeyHash(key)
		must(t, err)
		hashes = append(hashes, binary.BigEndian.AppendUint64(nil, hash))
	}
	outsiders := [3]outsider{}
	for i := range outsiders {
		outsiders[i] = outsider{o.name, hashes, map[string]int64{}}
	}
	p := functionOver(t, sums, &disturbed{outsider: outsiders[2], conn: session(t, "public"), seen: map[flow.MessageID]bool{}}, log, names, messages)
	var group sync.WaitGroup
	for i := range 2 {
		conn := session(t, "public")
		group.Go(func() {
			if err := outsiders[i].work(ctx, conn, i); err != nil {
				t.Error(err)
			}
		})
	}
	sum, err := p.Run(t.Context(), o.s)
	stop()
	group.Wait()
	must(t, err)
	if !sum.Completed {
		t.Fatalf("not completed: %+v", sum)
	}
	conflicts := log.count("since they were read")
	var total, want, outside int64 = ask[int64](t, "SELECT coalesce(sum(sum), 0)::bigint FROM "+o.name), names * messages, 0
	for i := range outsiders {
		for _, n := range outsiders[i].added {
			outside += n
		}
	}
	want += outside + 1000*int64(sum.Visits)
	t.Logf("%d conflicts, %d messages, %d visits", conflicts, sum.Messages, sum.Visits)
	if conflicts < 3 {
		t.Errorf("%d conflicts, and three epochs had one at least", conflicts)
	}
	if total != want {
		t.Errorf("the rows come to %d, want %d", total, want)
	}
}

// A row that somebody holds stops its partition, which shows that and tries again,
// and no other one.
func TestALockedRowOfAUserShowsInTheStatus(t *testing.T) {
	o := adopts(t, sumsTable, sumsColumns)
	must(t, o.s.Close())
	o.s = open(t, o.url+"&rondo_lock_timeout=100ms", pgstore.Options{})
	key, value := o.row("w3", 7)
	must(t, o.write(store.TableWrite{Table: o.id, Key: key, Value: value}))
	holder := session(t, "public")
	does(t, holder, fmt.Sprintf("BEGIN; SELECT FROM %s WHERE name = 'w3' FOR UPDATE", o.name))
	const names, messages = 40, 10
	p := adderOver(t, &said{}, names, messages)
	done := make(chan error, 1)
	go func() {
		_, err := p.Run(t.Context(), o.s)
		done <- err
	}()
	await(t, func() bool {
		failing, working := 0, 0
		for _, part := range p.Status().Partitions {
			switch {
			case strings.Contains(part.Error, "table public."+o.name+": a row is locked by somebody else"):
				failing++
			case part.Computation == "adder" && part.Totals.Messages > 0:
				working++
			}
		}
		return failing == 1 && working == 3
	})
	does(t, holder, "COMMIT")
	must(t, <-done)
	if got := ask[int64](t, "SELECT sum(sum % 1000)::bigint FROM "+o.name); got != names*messages+7 {
		t.Errorf("the rows come to %d, want %d", got, names*messages+7)
	}
}

// A user's table may be joined: looked up by messages, and scanned by visits.
func TestAUsersTableMayBeJoined(t *testing.T) {
	o := adopts(t, sumsTable, sumsColumns)
	must(t, o.write(o.put("w0", 1), o.put("w1", 2), o.put("other", 3)))
	o.sql(`CREATE TABLE %s_made (hash bytea NOT NULL, name text PRIMARY KEY, sum bigint NOT NULL); CREATE INDEX ON %[1]s_made (hash)`)
	_, err := o.s.AdoptTable(t.Context(), "//made", o.form.String(), o.name+"_made")
	must(t, err)
	text := strings.Replace(sums, "parameters: {path: //own}}}", `parameters: {path: //made}}}
      external_state_joiners:
        /looked: {class_name: simple, parameters: {path: //own}, join_on: {key_provider_streams: [words]}}
        /scanned: {class_name: static_table, parameters: {path: //own}}`, 1)
	text = strings.Replace(text, "external_names: [/sums]", "external_names: [/sums, /scanned]", 1)
	p := functionOver(t, text, joins{}, &said{}, 3, 2)
	_, err = p.Run(t.Context(), o.s)
	must(t, err)
	// Looked up twice each, and 100 for what is present and 1000 for what is absent.
	got := ask[[]string](t, fmt.Sprintf("SELECT array_agg(name || ' ' || sum ORDER BY name) FROM %s_made", o.name))
	if want := []string{"other 100", "w0 102", "w1 104", "w2 1000"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// joins adds what it looks up to the rows of another table, and what a visit is told
// of the scanned one.
type joins struct{}

func (joins) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	j, err := flow.OpenJoined(rt, "/looked", m)
	if err != nil {
		return err
	}
	row, there, err := j.Row()
	if err != nil || !there {
		return errors.Join(err, add(flow.OpenExternal(rt, "/sums", m), 0))
	}
	return add(flow.OpenExternal(rt, "/sums", m), row.Int64("sum"))
}

func (joins) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	j, err := flow.OpenJoined(rt, "/scanned", v)
	if err != nil || !v.Final || !j.Known() {
		return err
	}
	_, there, err := j.Row()
	if err != nil {
		return err
	}
	if there {
		return add(flow.OpenExternal(rt, "/sums", v), 100)
	}
	return add(flow.OpenExternal(rt, "/sums", v), 1000)
}

// A pipeline whose table lacks something does not start, and says what; one whose
// table goes while it runs waits for it, with the error in its log.
func TestAPipelineTellsWhatAUsersTableLacks(t *testing.T) {
	o := adopts(t, sumsTable, sumsColumns)
	o.sql("DROP INDEX %s_hash_idx")
	log := &said{}
	p := adderOver(t, log, 10, 10)
	_, err := p.Run(t.Context(), o.s)
	fails(t, err, store.ErrRefused, "external_state_managers./sums: table //own", "no index that begins with column hash")
	o.sql("CREATE INDEX ON %s (hash)")
	o.sql("ALTER TABLE %s ADD CHECK (sum < 5)")
	done := make(chan error, 1)
	go func() {
		_, err := p.Run(t.Context(), o.s)
		done <- err
	}()
	await(t, func() bool { return log.count("check constraint "+o.name+"_sum_check") > 0 })
	o.sql("DROP TABLE %s")
	await(t, func() bool { return log.count("the database has no table public."+o.name) > 0 })
	run(t, "public", fmt.Sprintf(sumsTable, o.name))
	must(t, <-done)
	if n := ask[int64](t, "SELECT count(*) FROM "+o.name); n != 10 {
		t.Errorf("%d rows", n)
	}
	must(t, o.s.Close())
	o.s = open(t, o.url, pgstore.Options{})
}
