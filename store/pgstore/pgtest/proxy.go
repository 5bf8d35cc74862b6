package pgtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy is a network between a store and its server, with faults on demand. A
// fault stays until Heal.
type Proxy struct {
	server *Server
	proxy  *toxiproxy.Proxy
}

// StuckPipe is a function of toxiproxy that hangs where a fault begins at the moment
// in which a connection ends: the pipe has nobody to pass to any more. Tests that look
// for goroutines left behind leave it out.
const StuckPipe = "github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"

// NewProxy makes a network to a server of StartTCP. Close ends it.
func NewProxy(s *Server) (*Proxy, error) {
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	taken, err := takePort() // it is wanted again after Cut and Down
	if err != nil {
		return nil, err
	}
	p := toxiproxy.NewProxy(api, "postgres", taken.Addr().String(), fmt.Sprintf("127.0.0.1:%d", s.port))
	return &Proxy{s, p}, errors.Join(taken.Close(), p.Start())
}

// URL is where a store of a schema lies behind the network.
func (p *Proxy) URL(schema string) string { return p.server.at(p.proxy.Listen, schema) }

// Slow delays every answer.
func (p *Proxy) Slow(by time.Duration) error {
	return p.add("latency", "downstream", map[string]int64{"latency": by.Milliseconds()})
}

// Swallow takes what is sent, either way, and passes nothing on.
func (p *Proxy) Swallow() error {
	if err := p.add("timeout", "upstream", map[string]int64{"timeout": 0}); err != nil {
		return err
	}
	return p.add("timeout", "downstream", map[string]int64{"timeout": 0})
}

// CutSent passes on so many bytes more of what each connection sends, and ends it
// then.
func (p *Proxy) CutSent(after int64) error {
	return p.add("limit_data", "upstream", map[string]int64{"bytes": after})
}

// CutAnswers ends each connection instead of passing the next answer on.
func (p *Proxy) CutAnswers() error {
	return p.add("limit_data", "downstream", map[string]int64{"bytes": 0})
}

func (p *Proxy) add(kind, stream string, attributes map[string]int64) error {
	text, err := json.Marshal(map[string]any{"type": kind, "stream": stream, "attributes": attributes})
	if err != nil {
		return err
	}
	_, err = p.proxy.Toxics.AddToxicJson(bytes.NewReader(text))
	return err
}

// Heal ends the faults. Connections that were cut, or from which something was
// swallowed, stay useless.
func (p *Proxy) Heal() { p.proxy.Toxics.ResetToxics(context.Background()) }

// Cut ends all connections at once, and lets new ones through.
func (p *Proxy) Cut() error {
	p.proxy.Stop()
	return p.proxy.Start()
}

// Down ends all connections, and lets none through until Up.
func (p *Proxy) Down() { p.proxy.Stop() }

// Up lets connections through again.
func (p *Proxy) Up() error { return p.proxy.Start() }

// Close ends all connections.
func (p *Proxy) Close() { p.proxy.Stop() }
