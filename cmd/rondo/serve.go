package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
)

// serve lets the other commands reach a pipeline once it runs, until the function
// it returns is called. A file system that has no sockets is no reason not to run.
func serve(p *engine.Pipeline, s storage, dataDir string, log *slog.Logger) (done func()) {
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-stop:
			return
		case <-p.Begun():
		}
		l, err := console.Listen(dataDir)
		if err != nil {
			log.Warn("the pipeline runs, but other commands cannot reach it", "error", err)
			return
		}
		server := console.Serve(l, console.Options{
			Pipeline: p, Log: log, Now: time.Now,
			Backup: func(ctx context.Context, dir string) ([]string, error) { return copyFolder(ctx, s, dataDir, dir) },
		})
		log.Info("commands can reach the pipeline", "socket", l.Addr())
		keepReachable(stop, server, l, dataDir, log)
		if err := server.Close(); err != nil {
			log.Warn("the control socket was not closed cleanly", "error", err)
		}
	}()
	return func() {
		close(stop)
		<-gone
	}
}

// socketLook is how often it is looked whether the socket is still there.
const socketLook = time.Second

// keepReachable puts the socket back when somebody removes it, until stop.
func keepReachable(stop <-chan struct{}, server *console.Server, l *console.Socket, dataDir string, log *slog.Logger) {
	ticker := time.NewTicker(socketLook)
	defer ticker.Stop()
	for told := false; ; {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if !l.Gone() {
			continue
		}
		again, err := console.Listen(dataDir)
		if err != nil {
			if !told {
				told = true
				log.Warn("the control socket was removed, and cannot be put back: commands cannot reach the pipeline until it is started again", "error", err)
			}
			continue
		}
		told = false
		log.Warn("the control socket was removed, and is put back", "socket", again.Addr())
		server.Add(again)
		if err := l.Close(); err != nil { // requests in progress go on
			log.Warn("the former control socket was not closed cleanly", "error", err)
		}
		l = again
	}
}
