package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// The limits of a request; see the package comment.
const (
	maxRequest  = 1 << 20
	maxRows     = 32 << 20 // of a request with rows: one of 16 MiB, as files may have, fits
	readTime    = 10 * time.Second
	answerTime  = 30 * time.Second
	writeTime   = 10 * time.Second
	idleTime    = 5 * time.Second
	goodbyeTime = 5 * time.Second
	connections = 64
)

// Options are what a server is made of. Only Pipeline is needed.
type Options struct {
	// Pipeline is the one to look at and to change. Until it has begun to run
	// ([engine.Pipeline.Begun]), requests are refused.
	Pipeline *engine.Pipeline
	// Backup makes a copy of the data folder in a folder that is not there yet,
	// and returns the files of sinks that it does not hold. The pipeline does not
	// know where its store lies, so whoever opened it has to. If nil, backups are
	// refused.
	Backup func(ctx context.Context, dir string) (left []string, err error)
	// Now tells the time, for the deadlines of connections. If nil, it is time.Now.
	Now func() time.Time
	// Log takes who asked for what, if it changes something, and what fails in
	// here. If nil, it is slog.Default().
	Log *slog.Logger
}

// Server serves the API of one pipeline.
type Server struct {
	opts   Options
	http   *http.Server
	cancel context.CancelFunc
	slots  chan struct{}
	served sync.WaitGroup // a listener each
}

// Serve begins to answer what comes through l, until [Server.Close]. It owns l: who
// closes it ends only what comes through it.
func Serve(l net.Listener, o Options) *Server {
	o = o.defaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{opts: o, cancel: cancel, slots: make(chan struct{}, connections)}
	s.http = &http.Server{
		Handler:           s.routes(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // of broken clients
		ReadHeaderTimeout: readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    16 << 10,
	}
	s.Add(l)
	return s
}

// Add answers what comes through l too. It is not called once Close was.
func (s *Server) Add(l net.Listener) {
	s.served.Go(func() {
		if err := s.http.Serve(limit(l, s.slots)); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.opts.Log.Warn("the pipeline cannot be controlled any more", "error", err)
		}
	})
}

// Close ends long requests, waits a little for those in progress, and closes the
// listeners.
func (s *Server) Close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.served.Wait()
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]handler{
		"GET /v1/status": {f: s.status},
		"GET /v1/visits": {f: s.visits},
		"GET /v1/visits/{computation}/{stream}/passes":   {f: s.passes},
		"POST /v1/visits/{computation}/{stream}/run-now": {f: s.runNow, changes: true},
		"GET /v1/spec":               {f: s.spec},
		"POST /v1/spec/dynamic":      {f: s.setDynamic, changes: true},
		"POST /v1/repartition":       {f: s.repartition, changes: true, long: true},
		"POST /v1/backup":            {f: s.backup, changes: true, long: true},
		"POST /v1/state/get":         {f: s.stateGet},
		"POST /v1/state/list":        {f: s.stateList},
		"GET /v1/tables":             {f: s.tables},
		"POST /v1/tables/create":     {f: s.tableCreate, changes: true},
		"POST /v1/tables/rename":     {f: s.tableRename, changes: true},
		"POST /v1/tables/drop":       {f: s.tableDrop, changes: true},
		"POST /v1/tables/rows/get":   {f: s.tableGet},
		"POST /v1/tables/rows/list":  {f: s.tableList},
		"POST /v1/tables/rows/write": {f: s.tableWrite, rows: true},
		"POST /v1/pause":             {f: s.pause, changes: true},
		"POST /v1/stop":              {f: s.stop, changes: true},
	} {
		mux.Handle(pattern, s.handle(f))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, nil, failf(http.StatusNotFound, "there is no %s %s: the paths are /v1/status, visits, spec, repartition, backup, state, tables, pause and stop", r.Method, r.URL.Path))
	})
	return mux
}

// handler answers a kind of request.
type handler struct {
	f func(r *http.Request) (any, error)
	// changes says that it is worth a line in the log, long that it may take as
	// long as the client waits.
	changes, long bool
	// rows says that it brings rows, each of which may be long.
	rows bool
}

// most is how many bytes a request may have.
func (h handler) most() int64 {
	if h.rows {
		return maxRows
	}
	return maxRequest
}

func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.readWhole(w, r, h.most()); err != nil {
			s.answer(w, nil, err)
			return
		}
		if !h.long {
			ctx, cancel := context.WithTimeout(r.Context(), answerTime)
			defer cancel()
			r = r.WithContext(ctx)
		}
		value, err := s.call(h, r)
		switch {
		case h.changes && err != nil:
			s.opts.Log.Warn("control: refused", "request", r.URL.Path, "error", err)
		case h.changes:
			s.opts.Log.Info("control", "request", r.URL.Path)
		}
		s.answer(w, value, err)
	})
}

// call turns a panic of a handler into an error: left to the HTTP server, it would
// cut the connection and look as if the pipeline had ended.
func (s *Server) call(h handler, r *http.Request) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log.Error("control: a request made the server panic", "request", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			value, err = nil, failf(http.StatusInternalServerError, "the server failed: %v; its log has more, the pipeline goes on", p)
		}
	}()
	return h.f(r)
}

// readWhole replaces the body by what is read of it, and lets the time to read
// end there: a request that takes its time is not to be ended by it.
func (s *Server) readWhole(w http.ResponseWriter, r *http.Request, most int64) error {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(s.opts.Now().Add(readTime)) // fails if the client has gone, as reading then does
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	_ = c.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return failf(http.StatusRequestEntityTooLarge, "the request has more than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return failf(http.StatusBadRequest, "the request cannot be read: %v", err)
	}
	return nil
}

// answer writes a value or an error. It is whole in memory first, so that a slow
// reader holds nothing but that.
func (s *Server) answer(w http.ResponseWriter, value any, failure error) {
	status := http.StatusOK
	if failure != nil {
		e := ErrorOf(failure)
		value, status = e, e.Status
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(value); err != nil {
		status = http.StatusInternalServerError
		body.Reset()
		fmt.Fprintf(&body, `{"error":%q}`, err)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(s.opts.Now().Add(writeTime)) // of a connection that is gone
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client has gone
}

// decode fills a request from the body, strictly.
func decode(r *http.Request, request any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(request)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("it goes on behind its end")
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return failf(http.StatusBadRequest, "the request is not what is expected here: %v", err)
	}
	return nil
}
