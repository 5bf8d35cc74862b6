package pgstore_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// counted is a network to a server that counts how often a client waits for answers:
// how often it sends something when the server has spoken last.
type counted struct {
	t      *testing.T
	target string
	port   net.Listener
	pumps  sync.WaitGroup

	mu    sync.Mutex
	open  []net.Conn
	trips int
}

func newCounted(t *testing.T, s *pgtest.Server) *counted {
	t.Helper()
	u, err := url.Parse(s.TCP(""))
	must(t, err)
	c := &counted{t: t, target: u.Host}
	c.port, err = net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c.pumps.Go(c.accept)
	t.Cleanup(func() {
		must(t, c.port.Close())
		c.mu.Lock()
		for _, conn := range c.open {
			_ = conn.Close()
		}
		c.mu.Unlock()
		c.pumps.Wait()
	})
	return c
}

// url is where a store of a schema lies behind the network.
func (c *counted) url(s *pgtest.Server, schema string) string {
	u, err := url.Parse(s.TCP(schema))
	must(c.t, err)
	u.Host = c.port.Addr().String()
	return u.String()
}

func (c *counted) accept() {
	for {
		client, err := c.port.Accept()
		if err != nil {
			return // it is closed
		}
		server, err := net.Dial("tcp", c.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.mu.Lock()
		c.open = append(c.open, client, server)
		c.mu.Unlock()
		answered := true // by the server, last
		c.pumps.Go(func() { c.pump(server, client, &answered, false) })
		c.pumps.Go(func() { c.pump(client, server, &answered, true) })
	}
}

func (c *counted) pump(to io.WriteCloser, from io.Reader, answered *bool, answers bool) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			c.mu.Lock()
			if *answered && !answers {
				c.trips++
			}
			*answered = answers
			c.mu.Unlock()
			_, writeErr := to.Write(b[:n])
			err = errors.Join(err, writeErr)
		}
		if err != nil {
			return
		}
	}
}

// crossed wants that something takes at most so many round trips, and at least one.
func (c *counted) crossed(what string, most int, do func() error) {
	c.t.Helper()
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.trips
	}
	before := count()
	must(c.t, do())
	n := count() - before
	c.t.Logf("%s crosses the network %d times", what, n)
	if n > most || n < 1 {
		c.t.Errorf("%s crosses the network %d times, want at most %d", what, n, most)
	}
}
