package pgstore_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// What a proxy does with the next bytes of a client.
const (
	pass   = iota
	refuse // cut the connection instead of sending them on
	deafen // send them on, and cut the connection instead of sending the answer back
)

// proxy stands between a store and its server.
type proxy struct {
	dir, to string
	mode    atomic.Int32
	conns   sync.WaitGroup
}

const socketName = ".s.PGSQL.5432"

func newProxy(t *testing.T, s *pgtest.Server) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "rondo-proxy-")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{dir: dir, to: filepath.Join(s.Dir(), socketName)}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	p.conns.Go(func() { p.serve(l) })
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
		p.conns.Wait()
	})
	return p
}

// through is a URL of the server, through the proxy.
func (p *proxy) through(url string) string {
	return strings.Replace(url, "host="+filepath.Dir(p.to), "host="+p.dir, 1)
}

func (p *proxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.conns.Go(func() { p.copy(server, client, refuse) })
		p.conns.Go(func() { p.copy(client, server, deafen) })
	}
}

// copy sends on what comes, until the mode says to cut.
func (p *proxy) copy(to, from net.Conn, cut int32) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || p.mode.Load() == cut {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
