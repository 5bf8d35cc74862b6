package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/console"
	"golang.org/x/term"
)

// watch shows the visit streams until it is told to stop or the pipeline ends.
func (c *visitsListCommand) watch(ctx context.Context, r *reached, io *streams) error {
	v, err := r.Visits(ctx)
	if err != nil {
		return err
	}
	if !v.Running {
		return errors.New("the pipeline is not running: there is nothing to watch; without --watch it is shown as it was left")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer onInterrupt(stop, nil, time.Now)()
	d := c.watcher(io, len(v.Streams))
	defer d.close()
	ticker := time.NewTicker(d.every())
	defer ticker.Stop()
	for {
		if err := d.show(v); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if v, err = r.Visits(ctx); err != nil {
			return ended(ctx, io, err)
		}
	}
}

// ended tells whether an error came because there is nothing to watch any more.
func ended(ctx context.Context, io *streams, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if answered := (*console.Error)(nil); errors.As(err, &answered) && !console.Ended(err) {
		return err
	}
	fmt.Fprintln(io.err, "rondo: the pipeline has ended")
	return nil
}

// watcher shows visit streams again and again.
type watcher interface {
	every() time.Duration
	show(v *console.Visits) error
	close()
}

func (c *visitsListCommand) watcher(io *streams, n int) watcher {
	if f, ok := io.out.(*os.File); ok && c.Output == "text" && term.IsTerminal(int(f.Fd())) {
		return &visitBars{newPainted(newScreen(f), n+1)}
	}
	return &visitLines{out: io.out, json: c.Output == "json"}
}

// visitLines prints a line for each stream, or an object for all.
type visitLines struct {
	out  io.Writer
	json bool
}

func (l *visitLines) every() time.Duration { return 2 * time.Second }

func (l *visitLines) show(v *console.Visits) error {
	if l.json {
		return json.NewEncoder(l.out).Encode(v)
	}
	var b strings.Builder
	for i := range v.Streams {
		fmt.Fprintf(&b, "%s %s\n", time.Now().Format(time.TimeOnly), scanText(&v.Streams[i]))
		b.WriteString(problemLines(v.Streams[i].Problems))
	}
	_, err := io.WriteString(l.out, b.String())
	return err
}

func (l *visitLines) close() {}

// visitBars are a bar for each stream on a terminal, and a line of what is wrong.
type visitBars struct{ *painted }

func (b *visitBars) every() time.Duration { return 500 * time.Millisecond }

func (b *visitBars) show(v *console.Visits) error {
	b.paint(func(i, width int) string { return cut(barLine(v, i), width) })
	return nil
}

// barLine is line i of the block.
func barLine(v *console.Visits, i int) string {
	if i < len(v.Streams) {
		s := &v.Streams[i]
		return fmt.Sprintf("%s [%s] %s", streamName(s), bar(s.Progress), scanText(s)[len(streamName(s))+1:])
	}
	var all []console.Problem
	for _, s := range v.Streams {
		all = append(all, s.Problems...)
	}
	if len(all) == 0 || i > len(v.Streams) {
		return ""
	}
	text := fmt.Sprintf("! %s: %s", all[0].Path, all[0].Message)
	if len(all) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(all)-1)
	}
	return text
}

// scanText is a stream on one line.
func scanText(v *console.VisitStream) string {
	v = aimed(v)
	return fmt.Sprintf("%s %s, pass %s, %s, %s left, lag %s  %s ready  %s of %s visits/s  %d failed  %d gone",
		streamName(v), v.State, passText(v), percent(&v.Progress), shortDuration(v.Left), shortDuration(&v.Lag),
		count(v.Ready), perSecond(v.Processed), perSecond(v.Offered), v.Failed, v.Gone)
}
