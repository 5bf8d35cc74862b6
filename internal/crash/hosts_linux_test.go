package crash

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// host is a network namespace with an address of its own, and a cable to this machine.
type host struct {
	t     *testing.T
	name  string
	cable string // this end of it
	url   string // of the store, from there
}

// newHosts makes hosts, which are gone when the test ends. Only root may, and only
// where the system lets it: else the test is skipped.
func newHosts(t *testing.T, n int, to string) []*host {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces are made by the command ip (iproute2), which is not here")
	}
	var out []*host
	for i := range n {
		h := &host{t: t, name: fmt.Sprintf("rondo-%d-%d", os.Getpid(), i), cable: fmt.Sprintf("rd%d.%d", os.Getpid(), i)}
		if text, err := ip("netns", "add", h.name); err != nil {
			if i == 0 && strings.Contains(text, "not permitted") {
				t.Skipf("this machine lets not even root make network namespaces: %s", text)
			}
			t.Fatalf("ip netns add: %v: %s", err, text)
		}
		t.Cleanup(func() { h.ip("netns", "del", h.name) }) // and the cable with it
		subnet := fmt.Sprintf("10.%d.%d", 200+os.Getpid()%50, 10*i+os.Getpid()%10)
		h.ip("link", "add", h.cable, "type", "veth", "peer", "name", "eth0", "netns", h.name)
		h.ip("addr", "add", subnet+".1/30", "dev", h.cable)
		h.ip("link", "set", h.cable, "up")
		h.ip("-n", h.name, "addr", "add", subnet+".2/30", "dev", "eth0")
		h.ip("-n", h.name, "link", "set", "lo", "up")
		h.ip("-n", h.name, "link", "set", "eth0", "up")
		h.url = forward(t, subnet+".1", to)
		out = append(out, h)
	}
	return out
}

func ip(args ...string) (string, error) {
	out, err := exec.Command("ip", args...).CombinedOutput()
	return string(out), err
}

func (h *host) ip(args ...string) {
	h.t.Helper()
	if out, err := ip(args...); err != nil {
		h.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// cut is a partition: nothing passes between the host and all others, and nobody is
// told. mend ends it.
func (h *host) cut()  { h.t.Helper(); h.ip("link", "set", h.cable, "down") }
func (h *host) mend() { h.t.Helper(); h.ip("link", "set", h.cable, "up") }

// forward passes connections to an address of this machine on to the database, and
// returns the URL with that address.
func forward(t *testing.T, address, to string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	var pipes sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	closed := false
	t.Cleanup(func() {
		err := l.Close()
		mu.Lock()
		closed = true
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		pipes.Wait()
		if err != nil {
			t.Error(err)
		}
	})
	keep := func(c net.Conn) bool {
		mu.Lock()
		defer mu.Unlock()
		open = append(open, c)
		return !closed
	}
	pipes.Go(func() {
		for {
			in, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			pipes.Go(func() {
				defer in.Close()
				out, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer out.Close()
				if !keep(in) || !keep(out) {
					return
				}
				pipes.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
				_, _ = io.Copy(in, out)
			})
		}
	})
	u.Host = l.Addr().String()
	return u.String()
}

// TestThreeHostsAndAPartitionBetweenThem: three hosts with addresses of their own run a
// worker each. The controller's is cut off, and later another; each is taken for dead,
// the others go on, and what it does when it is back loses and repeats nothing.
func TestThreeHostsAndAPartitionBetweenThem(t *testing.T) {
	t.Parallel()
	server := newTCPServer(t)
	proxy, err := pgtest.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	hosts := newHosts(t, 3, proxy.URL("hosts"))
	f := newFleet(t, server, buildCommand(t), "hosts", slowJob)
	f.worker = func(data string) *exec.Cmd {
		h := hosts[len(f.all)]
		return exec.Command("ip", "netns", "exec", h.name, f.command, "worker", "--store", h.url, "--lease", "1s", "--data", data)
	}
	for range hosts {
		f.hire()
	}
	for i := range 2 {
		f.await("all workers to have partitions", func(*store.View) bool {
			return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
		})
		if f.over() {
			if t.Logf("the pipeline is completed after %d partitions", i); i == 0 {
				t.Fatal("there was nothing to cut off")
			}
			break // the machine is slower than the source
		}
		v, err := f.look.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(f.crews, func(c *crew) bool { return c.id() == v.Lease.Holder })
		c := f.crews[at]
		hosts[at].cut()
		f.await("a worker that is cut off to be given up", func(v *store.View) bool { return v.Worker(c.id()) == nil })
		f.await("its partitions to have others", func(*store.View) bool { return !f.owns(c.id()) && !f.owns("") })
		f.flows("messages to flow without it")
		hosts[at].mend()
		f.await("it to be back", func(v *store.View) bool { return v.Worker(c.id()) != nil })
	}
	f.finish()
	f.check()
}
