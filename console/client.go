package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"syscall"
)

// ErrNotServed says that no process serves the socket of a data folder.
var ErrNotServed = errors.New("the pipeline is not running")

// ErrUnknown: the pipeline ended in the middle of a request that asks for something
// to be done.
var ErrUnknown = errors.New("it is not known whether it was done")

// Client asks the pipeline that runs on a data folder.
type Client struct {
	dataDir string
	http    http.Client
}

// dialError says that nothing was sent.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// NewClient returns a client for a data folder. It connects with the first
// request.
func NewClient(dataDir string) *Client {
	return &Client{dataDir: dataDir, http: http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx, dataDir)
			if err != nil {
				return nil, &dialError{err}
			}
			return conn, nil
		},
	}}}
}

// Close lets go of the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Served tells whether a process serves the socket, and changes nothing. A
// socket that a process left when it died does not count.
func (c *Client) Served(ctx context.Context) (bool, error) {
	conn, err := dial(ctx, c.dataDir)
	if err == nil {
		return true, conn.Close()
	}
	if err = c.explain(err); errors.Is(err, ErrNotServed) {
		return false, nil
	}
	return false, err
}

// explain turns the error of a connection into one that says what to do.
func (c *Client) explain(err error) error {
	path := filepath.Join(c.dataDir, SocketName)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: the process that left %s is gone; start the pipeline again with rondo run", ErrNotServed, path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w in the data folder %s: start it with rondo run, or name another folder with --data", ErrNotServed, c.dataDir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s belongs to another user: control the pipeline as the user who runs it: %w", path, err)
	default:
		return err
	}
}

// failed explains why a request has no answer. One that was sent may have been
// carried out.
func (c *Client) failed(ctx context.Context, changes bool, err error) error {
	var unreached *dialError
	switch {
	case errors.As(err, &unreached):
		return c.explain(unreached.err)
	case ctx.Err() != nil && changes:
		return fmt.Errorf("%w: nobody waits for the answer any more; rondo status and rondo spec get tell: %w", ErrUnknown, ctx.Err())
	case ctx.Err() != nil:
		return ctx.Err()
	case changes:
		return fmt.Errorf("%w: the pipeline in %s ended before it answered; rondo status and rondo spec get tell, also of a pipeline that does not run", ErrUnknown, c.dataDir)
	default:
		return fmt.Errorf("%w in the data folder %s any more: it ended before it answered", ErrNotServed, c.dataDir)
	}
}

// Status asks how the pipeline is.
func (c *Client) Status(ctx context.Context) (*Status, error) { return get[Status](ctx, c, "status") }

// Visits asks how its visit streams are.
func (c *Client) Visits(ctx context.Context) (*Visits, error) { return get[Visits](ctx, c, "visits") }

// Spec asks for the spec in force.
func (c *Client) Spec(ctx context.Context) (*Spec, error) { return get[Spec](ctx, c, "spec") }

// Passes asks for the passes that are remembered of a visit stream.
func (c *Client) Passes(ctx context.Context, computation, stream string) (*Passes, error) {
	return get[Passes](ctx, c, streamPath(computation, stream)+"/passes")
}

// RunNow orders a pass of a visit stream.
func (c *Client) RunNow(ctx context.Context, computation, stream string, r RunNowRequest) error {
	_, err := post[struct{}](ctx, c, streamPath(computation, stream)+"/run-now", r)
	return err
}

// SetDynamic changes the dynamic spec.
func (c *Client) SetDynamic(ctx context.Context, r SetRequest) (*SetAnswer, error) {
	return post[SetAnswer](ctx, c, "spec/dynamic", r)
}

// Repartition asks for a number of partitions, and waits until they are there.
func (c *Client) Repartition(ctx context.Context, r RepartitionRequest) error {
	_, err := post[struct{}](ctx, c, "repartition", r)
	return err
}

// Backup asks for a copy of the data folder, and waits for it.
func (c *Client) Backup(ctx context.Context, r BackupRequest) (*BackupAnswer, error) {
	return post[BackupAnswer](ctx, c, "backup", r)
}

// Pause and Stop ask for the end of the run, as the methods of the pipeline do,
// and do not wait for it.
func (c *Client) Pause(ctx context.Context) error {
	_, err := post[struct{}](ctx, c, "pause", struct{}{})
	return err
}

// Stop is said with Pause.
func (c *Client) Stop(ctx context.Context) error {
	_, err := post[struct{}](ctx, c, "stop", struct{}{})
	return err
}

func streamPath(computation, stream string) string {
	return "visits/" + url.PathEscape(computation) + "/" + url.PathEscape(stream)
}

func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return ask[T](ctx, c, http.MethodGet, path, false, nil)
}

// post asks for something to be done.
func post[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return send[T](ctx, c, path, true, body)
}

// query asks for what a body describes, and changes nothing.
func query[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return send[T](ctx, c, path, false, body)
}

func send[T any](ctx context.Context, c *Client, path string, changes bool, body any) (*T, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return ask[T](ctx, c, http.MethodPost, path, changes, text)
}

func ask[T any](ctx context.Context, c *Client, method, path string, changes bool, body []byte) (*T, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://rondo/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.failed(ctx, changes, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, c.failed(ctx, changes, err)
	}
	if answer.StatusCode != http.StatusOK {
		e := &Error{Status: answer.StatusCode}
		if err := json.Unmarshal(text, e); err != nil || e.Message == "" {
			e.Message = fmt.Sprintf("the pipeline answered %s: %.200s", answer.Status, text)
		}
		return nil, e
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("the pipeline's answer cannot be read: %w", err)
	}
	return &out, nil
}
