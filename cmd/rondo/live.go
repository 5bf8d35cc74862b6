package main

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// live repaints a block of lines at the bottom of a terminal. mpb does what
// depends on terminals; each line is one of its bars.
type live struct {
	screen   *screen
	progress *mpb.Progress
	bars     []*mpb.Bar
	rates    rates
	// shown is written by show and read by mpb's goroutines.
	shown atomic.Pointer[view]
}

var _ display = (*live)(nil)

// newLive shows a block for a pipeline with a number of visit streams.
func newLive(s *screen, sweeps int) *live {
	l := &live{screen: s, progress: mpb.New(mpb.WithOutput(s.file))}
	l.shown.Store(&view{})
	for i := range blockLines + sweeps {
		l.bars = append(l.bars, l.progress.New(0, line{l, i}, mpb.BarFillerTrim()))
	}
	s.cover(l.progress)
	return l
}

// line is a line of the block; mpb wants what fills a bar and who makes it.
type line struct {
	live *live
	i    int
}

// Build returns the line.
func (l line) Build() mpb.BarFiller { return l }

// Fill writes the line's present text.
func (l line) Fill(w io.Writer, st decor.Statistics) error {
	_, err := io.WriteString(w, l.live.shown.Load().line(l.i, st.AvailableWidth))
	return err
}

func (l *live) every() time.Duration { return 200 * time.Millisecond }

func (l *live) show(s *engine.Status) {
	v := newView(s, l.rates.add(s))
	l.shown.Store(&v)
}

// close takes the block away: the summary says it all.
func (l *live) close() {
	l.screen.uncover(func() {
		for _, bar := range l.bars {
			bar.Abort(true)
		}
		l.progress.Wait()
	})
}
