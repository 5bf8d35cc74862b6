package file

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/connector"
)

// history is a followed file that grows and rotates, and what a reader has to
// make of it: every line once and in order, wherever it is started again.
type history struct {
	*followScript
	rt      *rapid.T
	dates   bool // rotated files get dates, not numbers
	lines   int  // complete lines
	part    bool // the last line is not complete yet
	rotated int
	next    int // the line that the reader has to return next
	offsets map[int][]byte
}

func TestFollowedFilesAreReadOnceHoweverTheyRotate(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		run, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		h := &history{
			followScript: &followScript{t: t, dir: run, params: "format=csv; header=%false", clock: time.Unix(1e9, 0)},
			rt:           rt, dates: rapid.Bool().Draw(rt, "dates"), offsets: map[int][]byte{0: nil},
		}
		h.must(h.write(h.path(), "0\n"))
		h.lines = 1
		h.must(h.open())
		defer h.close()
		h.readSome(100) // from here on there is an offset to come back to
		rt.Repeat(map[string]func(*rapid.T){"append": h.append, "rotate": h.rotate, "read": h.read, "restart": h.restart})
		h.finish()
	})
}

func (h *history) path() string { return filepath.Join(h.dir, "app.log") }

func (h *history) must(err error) {
	h.rt.Helper()
	if err != nil {
		h.rt.Fatal(err)
	}
}

// append writes lines, the last of them sometimes only in part. Some files are
// as old as the one before.
func (h *history) append(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "as old") == 0 {
		h.clock = h.clock.Add(-time.Second)
	}
	text := ""
	if h.part {
		text, h.part = "\n", false
		h.lines++
	}
	for range rapid.IntRange(0, 4).Draw(rt, "lines") {
		text += fmt.Sprintln(h.lines)
		h.lines++
	}
	if rapid.Bool().Draw(rt, "part") {
		text, h.part = text+fmt.Sprint(h.lines), true
	}
	h.must(h.write(h.path(), text))
}

// rotate moves the file away; the line that was begun in it is all there is.
func (h *history) rotate(rt *rapid.T) {
	if _, err := os.Stat(h.path()); errors.Is(err, os.ErrNotExist) {
		return
	}
	if h.part {
		h.part = false
		h.lines++
	}
	h.rotated++
	if h.dates {
		h.must(os.Rename(h.path(), fmt.Sprintf("%s-2001-01-%03d", h.path(), h.rotated)))
		return
	}
	for n := h.rotated - 1; n > 0; n-- {
		h.must(os.Rename(fmt.Sprintf("%s.%d", h.path(), n), fmt.Sprintf("%s.%d", h.path(), n+1)))
	}
	h.must(os.Rename(h.path(), h.path()+".1"))
}

func (h *history) read(rt *rapid.T) { h.readSome(rapid.IntRange(1, 5).Draw(rt, "limit")) }

// readSome reads one batch, if there is something.
func (h *history) readSome(limit int) bool {
	b, err := h.reader.Read(newIdle(), connector.Limit{Rows: limit, Bytes: 1 << 20})
	if errors.Is(err, context.Canceled) {
		return false
	}
	h.must(err)
	if b.Gap != "" || b.End || b.Skipped > 0 {
		h.rt.Fatalf("batch %+v", b)
	}
	for _, row := range b.Rows {
		if got := row[0].AsString(); got != fmt.Sprint(h.next) {
			h.rt.Fatalf("line %s, want %d", got, h.next)
		}
		h.next++
	}
	h.offsets[h.next] = b.Offset
	return true
}

// restart goes back to one of the offsets that were given out.
func (h *history) restart(rt *rapid.T) {
	var places []int
	for at := 1; at <= h.next; at++ {
		if h.offsets[at] != nil {
			places = append(places, at)
		}
	}
	h.next = rapid.SampledFrom(places).Draw(rt, "at")
	h.offset = h.offsets[h.next]
	h.must(h.open())
}

// finish ends the last line and reads all there is.
func (h *history) finish() {
	h.must(h.write(h.path(), "\n"))
	if h.part {
		h.lines++
	}
	for h.readSome(100) {
	}
	if h.next != h.lines {
		h.rt.Fatalf("%d lines were read, want %d", h.next, h.lines)
	}
}

// TestWhatACutFileLosesIsTold: lines are missing only where a gap says so, or
// where nothing had been read of what was cut; none comes twice, and none of
// what the file has is missing.
func TestWhatACutFileLosesIsTold(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		run, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		c := &cutHistory{history: history{
			followScript: &followScript{t: t, dir: run, params: "format=csv; header=%false", clock: time.Unix(1e9, 0)},
			rt:           rt, offsets: map[int][]byte{},
		}}
		c.append(rt)
		c.must(c.open())
		defer c.close()
		c.fresh = true
		rt.Repeat(map[string]func(*rapid.T){"append": c.append, "cut": c.cut, "read": c.readSome, "restart": c.restart})
		c.part = false
		c.must(c.write(c.path(), "\n"))
		c.lines++
		for c.readBatch(100) {
		}
		if c.next != c.lines {
			rt.Fatalf("read up to line %d, want %d", c.next, c.lines)
		}
	})
}

// cutHistory is a file that grows and is cut. start is the first line that it
// has, fresh that nothing was read of it.
type cutHistory struct {
	history
	start int
	fresh bool
}

func (c *cutHistory) append(rt *rapid.T) {
	c.history.append(rt)
	if !c.part { // the file always ends in a line without end
		c.must(c.write(c.path(), fmt.Sprint(c.lines)))
		c.part = true
	}
}

// cut empties the file. The line that was not complete is gone with it.
func (c *cutHistory) cut(rt *rapid.T) {
	c.must(errors.Join(os.Truncate(c.path(), 0), c.touch(c.path())))
	c.part = false
	c.lines++
	c.start = c.lines
	c.append(rt)
}

func (c *cutHistory) readSome(rt *rapid.T) { c.readBatch(rapid.IntRange(1, 5).Draw(rt, "limit")) }

func (c *cutHistory) readBatch(limit int) bool {
	b, err := c.reader.Read(newIdle(), connector.Limit{Rows: limit, Bytes: 1 << 20})
	if errors.Is(err, context.Canceled) {
		return false
	}
	c.must(err)
	if b.Gap != "" {
		if c.start <= c.next && !c.fresh {
			c.rt.Fatalf("a gap before line %d, though the file has it: %s", c.next, b.Gap)
		}
		c.next, c.fresh = c.start, true
	}
	for _, row := range b.Rows {
		if c.fresh && c.next < c.start {
			c.next = c.start
		}
		c.fresh = false
		if got := row[0].AsString(); got != fmt.Sprint(c.next) {
			c.rt.Fatalf("line %s, want %d", got, c.next)
		}
		c.next++
	}
	c.offsets[c.next] = b.Offset
	return true
}

func (c *cutHistory) restart(rt *rapid.T) {
	if len(c.offsets) == 0 {
		return
	}
	c.next = rapid.SampledFrom(slices.Sorted(maps.Keys(c.offsets))).Draw(rt, "at")
	c.offset = c.offsets[c.next]
	m, err := decodeMark(c.offset)
	c.must(err)
	c.fresh = m.Position == 0
	c.must(c.open())
}
