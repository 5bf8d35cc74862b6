package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// table is the file that the pipeline mirrors.
type table struct {
	dir, source string
	good        string // CSV of the version that the state has to equal
}

func (t *table) path() string { return filepath.Join(t.dir, "airports.parquet") }

// original is the first version: the airports as they are.
func (t *table) original() error {
	t.good = t.source
	return sorted(t.source, t.path())
}

// revised is the second: without those of Alaska, with Hawaii's renamed, and with
// a hundred new ones.
func (t *table) revised() error {
	t.good = filepath.Join(t.dir, "revised.csv")
	return t.rewritten(t.good, func(line string) string {
		f := strings.Split(line, ",")
		switch state := f[len(f)-4]; state {
		case "AK":
			return ""
		case "HI":
			return strings.Replace(line, ",HI,", ",Hawaii,", 1)
		default:
			return line
		}
	}, 100)
}

// tiny is one that lost nearly everything, which is not to be believed.
func (t *table) tiny() error {
	n := 0
	return t.rewritten(filepath.Join(t.dir, "tiny.csv"), func(line string) string {
		if n++; n > 11 {
			return ""
		}
		return line
	}, 0)
}

// rewritten makes a version of changed lines, those that become empty left out,
// and new ones. path is where it is written unsorted.
func (t *table) rewritten(path string, change func(string) string, more int) error {
	text, err := os.ReadFile(t.source)
	if err != nil {
		return err
	}
	var b strings.Builder
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		if line := change(lines.Text()); line != "" {
			b.WriteString(line + "\n")
		}
	}
	for i := range more {
		fmt.Fprintf(&b, "new%02d,New %d,Newtown,NT,USA,%d.5,0\n", i, i, i%90)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return err
	}
	return sorted(path, t.path())
}

// lose takes the file away, and back puts it where it was.
func (t *table) lose() error { return os.Rename(t.path(), t.path()+".lost") }
func (t *table) back() error { return os.Rename(t.path()+".lost", t.path()) }

// cut cuts the file off in the middle.
func (t *table) cut() error {
	info, err := os.Stat(t.path())
	if err != nil {
		return err
	}
	return os.Truncate(t.path(), info.Size()/2)
}

// swap puts something else in its place, which is no sorted table.
func (t *table) swap() error {
	return os.WriteFile(t.path(), []byte("PAR1 something else PAR1"), 0o600)
}

// scene is something that happens to the table.
type scene struct {
	name   string
	change func() error
}

// scenes are the story. Each lasts for whole passes.
func (t *table) scenes() []scene {
	return []scene{
		{"the table as it is:", func() error { return nil }},
		{"a second version:", t.revised},
		{"the file is lost:", t.lose},
		{"and is back:", t.back},
		{"it is cut off:", t.cut},
		{"something else is there:", t.swap},
		{"nearly everything is gone:", t.tiny},
		{"the first version again:", t.original},
	}
}

// tell plays the scenes. After each, the state equals the last good version.
func tell(p *engine.Pipeline, t *table, out io.Writer) error {
	for _, s := range t.scenes() {
		if err := s.change(); err != nil {
			return err
		}
		if err := wholePass(p); err != nil {
			return err
		}
		if err := compare(context.Background(), p.States(), t.good); err != nil {
			return fmt.Errorf("%s %w", s.name, err)
		}
		fmt.Fprintf(out, "%-28s %s\n", s.name, counts(p))
	}
	return nil
}

// counts are the counters of the mirror.
func counts(p *engine.Pipeline) string {
	c := p.Status().Counts
	return fmt.Sprintf("%d created, %d updated, %d deleted", c["created"], c["updated"], c["deleted"])
}

// wholePass waits until every partition has completed a pass that began after now.
func wholePass(p *engine.Pipeline) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	for now := (<-tick.C).UnixNano(); ; {
		select {
		case <-tick.C:
			if done, err := completedSince(p, now); done || err != nil {
				return err
			}
		case <-late.C:
			return errors.New("no pass is completed")
		}
	}
}

func completedSince(p *engine.Pipeline, wall int64) (bool, error) {
	parts, err := p.Passes("airports", "sweep")
	if err != nil {
		return false, err
	}
	for _, part := range parts {
		if n := len(part.Passes); n == 0 || part.Passes[n-1].Start < wall {
			return false, nil
		}
	}
	return true, nil
}
