package console

import (
	"net"
	"sync"
)

// limitListener lets only so many connections exist at a time; more wait in the
// system's queue.
type limitListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

// limit takes a slot for each connection; several listeners may share them.
func limit(l net.Listener, slots chan struct{}) *limitListener {
	return &limitListener{Listener: l, slots: slots, closed: make(chan struct{})}
}

// Accept waits for a free slot first.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close ends a waiting Accept.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn gives its slot back when it is closed.
type limitedConn struct {
	net.Conn
	free func()
}

// Close gives the slot back after the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}
