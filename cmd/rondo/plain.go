package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// plain logs the progress.
type plain struct {
	log   *slog.Logger
	rates rates
}

var _ display = (*plain)(nil)

func (p *plain) every() time.Duration { return 2 * time.Second }

func (p *plain) show(s *engine.Status) {
	v := newView(s, p.rates.add(s))
	attrs := []any{
		"messages", v.messages, "rate", fmt.Sprintf("%.0f/s", v.rate), "epochs", v.epochs,
		"visits", v.visits, "passes", v.passes, "evictions", v.evictions,
	}
	for _, sw := range v.sweeps {
		attrs = append(attrs, sw.name, sw.state())
	}
	if len(v.troubles) > 0 {
		attrs = append(attrs, "trouble", v.trouble())
	}
	p.log.Info("progress", attrs...)
}

func (p *plain) close() {}
