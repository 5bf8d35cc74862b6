package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/yson"
)

// clicks is a pipeline that never ends: 100 rows, and a visit stream with an hour
// for a pass. One name has signs that mean something in paths.
const clicks = `{
name = clicks;
spec = {
  streams = {clicks = {schema = [{name = user; type = string}]}};
  computations = {
    reader = {computation_class_name = source_passthrough; output_stream_ids = [clicks]; source_streams = {made = {source_class_name = datagen;
      parameters = {count = 100; finite = %true; keys = {count = 10; distribution = uniform}; columns = {user = {kind = key}}}}}};
    "users/a b.c%" = {computation_class_name = transform; input_stream_ids = [clicks]; key_visitor_streams = {sweep = {}}; processing_function = rollup;
      processing_function_parameters = {aggregates = {n = {op = count}}};
      group_by_schema = [{name = hash; type = uint64; expression = "farm_hash(user)"}; {name = user; type = string}]}}};
dynamic_spec = {computations = {"users/a b.c%" = {key_visitor_streams = {sweep = {period = "1h"; finite = %false}}}}}}`

const users = "users/a b.c%"

// running serves a pipeline on a folder until the test ends.
type running struct {
	dir      string
	pipeline *engine.Pipeline
	server   *console.Server
	client   *console.Client
	ended    chan error
}

func serve(t *testing.T, backup func(context.Context, string) ([]string, error)) *running {
	t.Helper()
	root, err := yson.Parse([]byte(clicks), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	sp, err := spec.FromNode("clicks.yson", root)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{Spec: sp, Functions: &flow.Registry{}, Connectors: &connector.Registry{}, DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	if err := errors.Join(function.Register(o.Functions), datagen.Register(o.Connectors)); err != nil {
		t.Fatal(err)
	}
	r := &running{dir: o.DataDir, ended: make(chan error, 1)}
	if r.pipeline, err = engine.Prepare(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s, err := pebblestore.Open(r.dir+"/store", pebblestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := r.pipeline.Run(context.Background(), s)
		r.ended <- err
	}()
	<-r.pipeline.Begun()
	r.server = console.Serve(listen(t, r.dir), console.Options{Pipeline: r.pipeline, Backup: backup, Now: time.Now, Log: o.Log})
	r.client = console.NewClient(r.dir)
	t.Cleanup(func() {
		r.client.Close()
		r.pipeline.Pause()
		if err := errors.Join(<-r.ended, r.server.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask sends a request as it is, and returns status and body of the answer.
func (r *running) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", r.dir+"/"+console.SocketName)
	}}}
	defer c.CloseIdleConnections()
	q, err := http.NewRequestWithContext(t.Context(), method, "http://rondo"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

func TestBadRequestsAreRefusedWithPathAndRangeAndChangeNothing(t *testing.T) {
	r := serve(t, nil)
	const sweep = "/v1/visits/users%2Fa%20b.c%25/sweep"
	before, err := r.client.Spec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/", "", 404, `{"error":"there is no GET /: the paths are /v1/status, `},
		{"GET", "/v2/status", "", 404, "there is no GET /v2/status"},
		{"DELETE", "/v1/status", "", 404, "there is no DELETE /v1/status"},
		{"GET", "/v1/visits/users/sweep/passes", "", 404, "there is no visit stream users/sweep: "},
		{"POST", "/v1/visits/reader/made/run-now", "{}", 404, "there is no visit stream reader/made: "},
		{"POST", sweep + "/run-now", "", 400, "it is empty"},
		{"POST", sweep + "/run-now", "{", 400, "unexpected EOF"},
		{"POST", sweep + "/run-now", "[]", 400, "cannot unmarshal array"},
		{"POST", sweep + "/run-now", `{"perod":"5s"}`, 400, `unknown field \"perod\"`},
		{"POST", sweep + "/run-now", `{} {}`, 400, "it goes on behind its end"},
		{"POST", sweep + "/run-now", `{"period":5}`, 400, "cannot unmarshal number"},
		{"POST", sweep + "/run-now", `{"period":"-5s"}`, 400, `a duration cannot be negative, got -5s; it must be \u003e= 0 and \u003c= 36500d","path":"period","range":"\u003e= 0 and \u003c= 36500d"}`},
		{"POST", sweep + "/run-now", `{"period":"40000d"}`, 400, `,"path":"period","range":"\u003e= 0 and \u003c= 36500d"}`},
		{"POST", "/v1/spec/dynamic", `{"path":"","value":"5s"}`, 400, "a name is missing"},
		{"POST", "/v1/spec/dynamic", `{"path":"computations.reader.max_rows_per_batch","value":"0"}`, 400,
			`{"error":"dynamic_spec.computations.reader.max_rows_per_batch: must be \u003e 0, got 0","path":"dynamic_spec.computations.reader.max_rows_per_batch","range":"\u003e 0"}`},
		{"POST", "/v1/spec/dynamic", `{"path":"computations.reader.max_rows_per_batch","value":"{"}`, 400, `"path":"computations.reader.max_rows_per_batch"`},
		{"POST", "/v1/spec/dynamic", `{"path":"computations.nobody.max_rows_per_batch","value":"5"}`, 400, "there is no computation nobody"},
		{"POST", "/v1/spec/dynamic", `{"path":"computations.reader.max_rows_per_batch","value":"5","version":77}`, 409, "it has version 1, not 77"},
		{"POST", "/v1/spec/dynamic", `{"path":"computations.reader.max_rows_per_batch","value":"5","version":-1}`, 400, "cannot unmarshal number -1"},
		{"POST", "/v1/spec/dynamic", `{"path":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "the request has more than 1048576 bytes"},
		{"POST", "/v1/repartition", `{"partition_count":3}`, 400, `,"path":"computation_id",`},
		{"POST", "/v1/repartition", `{"computation_id":"` + users + `","partition_count":-1}`, 400, `.desired_partition_count","range":"\u003e= 1 and \u003c= 100000"}`},
		{"POST", "/v1/repartition", `{"computation_id":"` + users + `"}`, 400, `,"path":"partition_count",`},
		{"POST", "/v1/repartition", `{"computation_id":"` + users + `","partition_count":null}`, 400, `"how many partitions? Give partition_count, 0 for what the dynamic spec says"`},
		{"POST", "/v1/repartition", `{"computation_id":"reader","partition_count":3}`, 409, "there is no computation reader whose partitions can be replaced"},
		{"POST", "/v1/backup", `{"dir":"copies/first"}`, 400, `,"path":"dir","range":"an absolute path"}`},
		{"POST", "/v1/state/list", `{"max_rows":-1}`, 400, `"path":"max_rows","range":"\u003e= 0"`},
		{"POST", "/v1/state/get", `{"keys":["*"]}`, 400, "illegal base64"},
		{"POST", "/v1/state/get", `{"keys":[` + strings.Repeat(`"",`, 1000) + `""]}`, 400, `"range":"\u003c= 1000"`},
	} {
		status, body := r.ask(t, c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %.60s: %d %s, want %d with %s", c.method, c.path, c.body, status, body, c.status, c.want)
		}
	}
	after, err := r.client.Spec(t.Context())
	if err != nil || *after != *before {
		t.Errorf("the spec became %v, %v", after, err)
	}
	if s, err := r.client.Status(t.Context()); err != nil || len(s.Problems) > 0 {
		t.Errorf("the pipeline has %v, %v", s, err)
	}
}

func TestAClientSetsAndOrdersWhatThePipelineThenDoes(t *testing.T) {
	r := serve(t, nil)
	ctx, value := t.Context(), "2h"
	path := `computations."users/a b.c%".key_visitor_streams.sweep.period`
	set, err := r.client.SetDynamic(ctx, console.SetRequest{Path: path, Value: &value, Version: 1})
	if err != nil || set.Version != 2 {
		t.Fatalf("set: %v, %v", set, err)
	}
	in, err := r.client.Spec(ctx)
	if err != nil || in.Version != 2 || !strings.Contains(in.Dynamic, `"period"="2h"`) {
		t.Errorf("the spec is %v, %v", in, err)
	}
	r.shows(t, "no partition that is still starting", func(*console.Visits) bool { return len(r.pipeline.VisitStreams()[0].Parts) > 0 })
	if err := r.client.RunNow(ctx, users, "sweep", console.RunNowRequest{Period: "1h"}); err != nil {
		t.Fatal(err)
	}
	refused := (*console.Error)(nil)
	if err := r.client.RunNow(ctx, users, "sweep", console.RunNowRequest{}); !errors.As(err, &refused) || refused.Status != http.StatusConflict || refused.Wrong() {
		t.Errorf("a second run-now: %v", err)
	}
	r.shows(t, "the run-now", func(v *console.Visits) bool {
		return v.Running && len(v.Streams) == 1 && v.Streams[0].Computation == users && v.Streams[0].RunNow
	})
	p, err := r.client.Passes(ctx, users, "sweep")
	if err != nil || p.Computation != users || len(p.Partitions) == 0 {
		t.Errorf("passes: %v, %v", p, err)
	}
	if set, err = r.client.SetDynamic(ctx, console.SetRequest{Path: path}); err != nil {
		t.Fatal(err)
	}
	if in, err = r.client.Spec(ctx); err != nil || in.Version != set.Version || strings.Contains(in.Dynamic, "period") {
		t.Errorf("without the setting the spec is %v, %v", in, err)
	}
}

// shows asks for the visit streams until they are as they come to be.
func (r *running) shows(t *testing.T, what string, so func(*console.Visits) bool) {
	t.Helper()
	for range 20_000 {
		v, err := r.client.Visits(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if so(v) {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatalf("the visit streams never show %s", what)
}

func TestPauseEndsTheRun(t *testing.T) {
	r := serve(t, nil)
	if err := r.client.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := <-r.ended
	r.ended <- err
	if _, err := r.client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("the status of a pipeline that has ended: %v", err)
	}
}

// A backup may last. It is told to end when the client goes, and when the server
// closes; neither waits for the other.
func TestALongRequestEndsWithItsClientAndWithTheServer(t *testing.T) {
	begun, told := make(chan struct{}), make(chan error)
	r := serve(t, func(ctx context.Context, dir string) ([]string, error) {
		begun <- struct{}{}
		<-ctx.Done()
		told <- context.Cause(ctx)
		return nil, fmt.Errorf("no copy was made in %s: %w", dir, ctx.Err())
	})
	answered := make(chan error, 1)
	backup := func(ctx context.Context) {
		_, err := r.client.Backup(ctx, console.BackupRequest{Dir: "/copies/first"})
		answered <- err
	}
	ctx, leave := context.WithCancel(t.Context())
	go backup(ctx)
	<-begun
	leave()
	if err := <-told; err == nil {
		t.Error("the backup is not told that its client has gone")
	}
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that went is told %v", err)
	}
	go backup(t.Context())
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- r.server.Close() }()
	if err := <-told; err == nil {
		t.Error("the backup is not told that the server closes")
	}
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "no copy was made in /copies/first") {
		t.Errorf("the client of a server that closes is told %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Clients that say nothing hold up nobody: there is room for 64, and what comes
// behind them is answered when they go.
func TestSilentClientsLeaveRoomAgain(t *testing.T) {
	r := serve(t, nil)
	var silent []net.Conn
	for range 63 {
		c, err := net.Dial("unix", r.dir+"/"+console.SocketName)
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, c)
	}
	if _, err := r.client.Spec(t.Context()); err != nil {
		t.Errorf("beside 63 silent clients: %v", err)
	}
	for _, c := range silent {
		c.Close()
	}
	for range 70 {
		c := console.NewClient(r.dir)
		if _, err := c.Spec(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// States read through the socket are those in the store, however small the pages.
func TestStatesComeThroughTheSocketAsTheyAre(t *testing.T) {
	r := serve(t, nil)
	for s, err := r.client.Status(t.Context()); ; s, err = r.client.Status(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Messages == 100 && handled(s) == 100 {
			break
		}
	}
	direct, remote := r.pipeline.States(), r.client.States()
	for _, limits := range []store.ListRequest{{}, {MaxRows: 3}, {MaxBytes: 1}, {Names: []string{"/nothing"}}} {
		var got, want []store.ListedKey
		for _, read := range []struct {
			from store.States
			keys *[]store.ListedKey
		}{{remote, &got}, {direct, &want}} {
			q := limits
			q.Computation = users
			for complete := false; !complete; {
				a, err := read.from.ListStates(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range a.Keys {
					if a.Complete || k.Key < a.CompleteTo {
						*read.keys = append(*read.keys, k)
					}
				}
				complete, q.Lower = a.Complete, a.CompleteTo
			}
		}
		if len(limits.Names) == 0 && len(got) != 10 || !reflect.DeepEqual(got, want) {
			t.Errorf("with the limits %+v: %d keys, want as in the store %d", limits, len(got), len(want))
		}
		for _, k := range got {
			a, err := remote.GetStates(t.Context(), users, []string{"\x00\xff", k.Key})
			if err != nil || len(a[0]) != 0 || !reflect.DeepEqual(a[1], k.Rows) {
				t.Errorf("key %x: %v, %v, want %v", k.Key, a, err, k.Rows)
			}
		}
	}
}

// handled counts the messages that the computation has taken.
func handled(s *console.Status) (n uint64) {
	for _, p := range s.Partitions {
		if p.Computation == users {
			n += p.Messages
		}
	}
	return n
}
