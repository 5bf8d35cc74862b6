package main

import (
	"io"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// painted is a block of lines at the bottom of a terminal, repainted as often as
// they change. mpb does what depends on terminals; each line is one of its bars.
type painted struct {
	screen   *screen
	progress *mpb.Progress
	bars     []*mpb.Bar
	// shown is written by paint and read by mpb's goroutines.
	shown atomic.Pointer[lines]
}

// lines gives the text of a line, from 0 on, that fits in a width.
type lines func(i, width int) string

// newPainted shows a block of n lines, all empty.
func newPainted(s *screen, n int) *painted {
	p := &painted{screen: s, progress: mpb.New(mpb.WithOutput(s.file))}
	p.paint(func(int, int) string { return "" })
	for i := range n {
		p.bars = append(p.bars, p.progress.New(0, line{p, i}, mpb.BarFillerTrim()))
	}
	s.cover(p.progress)
	return p
}

// line is a line of the block; mpb wants what fills a bar and who makes it.
type line struct {
	block *painted
	i     int
}

// Build returns the line.
func (l line) Build() mpb.BarFiller { return l }

// Fill writes the line's present text.
func (l line) Fill(w io.Writer, st decor.Statistics) error {
	_, err := io.WriteString(w, (*l.block.shown.Load())(l.i, st.AvailableWidth))
	return err
}

func (p *painted) paint(l lines) { p.shown.Store(&l) }

// close takes the block away.
func (p *painted) close() {
	p.screen.uncover(func() {
		for _, bar := range p.bars {
			bar.Abort(true)
		}
		p.progress.Wait()
	})
}
