package main

import (
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"
)

// screen is stderr. Log lines written to it appear above the live block while
// there is one.
type screen struct {
	file *os.File

	mu    sync.Mutex
	above io.Writer // the block's way of writing above itself; nil without one
}

func newScreen(file *os.File) *screen { return &screen{file: file} }

// display returns what shows the progress: a live block on a terminal, log
// lines elsewhere. sweeps is the number of visit streams.
func (s *screen) display(sweeps int, log *slog.Logger) display {
	if term.IsTerminal(int(s.file.Fd())) {
		return newLive(s, sweeps)
	}
	return &plain{log: log}
}

// Write writes whole lines.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.above != nil {
		if n, err := s.above.Write(b); err == nil {
			return n, nil
		}
	}
	return s.file.Write(b)
}

// home brings the cursor back to the line's beginning: a terminal echoes Ctrl-C
// where it stands, and the block would be taken away from there on only.
func (s *screen) home() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.above != nil {
		_, _ = io.WriteString(s.file, "\r")
	}
}

// cover tells that a block is shown from now on, and uncover calls remove, which
// takes it away, while nothing is written.
func (s *screen) cover(above io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.above = above
}

func (s *screen) uncover(remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remove()
	s.above = nil
}
