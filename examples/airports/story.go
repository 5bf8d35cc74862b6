package main

import (
	"bufio"
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
type table struct{ dir, source string }

func (t *table) path() string { return filepath.Join(t.dir, "airports.parquet") }

// original is the first version: the airports as they are.
func (t *table) original() error { return sorted(t.source, t.path()) }

// revised is the second: without those of Alaska, with Hawaii's renamed, and with
// a hundred new ones.
func (t *table) revised() error {
	return t.rewritten(func(line string) string {
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

// tiny is one that lost nearly everything.
func (t *table) tiny() error {
	n := 0
	return t.rewritten(func(line string) string {
		if n++; n > 11 {
			return ""
		}
		return line
	}, 0)
}

// rewritten makes a version of changed lines, those that become empty left out,
// and new ones.
func (t *table) rewritten(change func(string) string, more int) error {
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
	in := filepath.Join(t.dir, "version.csv")
	if err := os.WriteFile(in, []byte(b.String()), 0o600); err != nil {
		return err
	}
	return sorted(in, t.path())
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

// tell plays the scenes, each of which lasts for whole passes.
func tell(p *engine.Pipeline, t *table, out io.Writer) error {
	nothing := func() error { return nil }
	for _, scene := range []struct {
		name   string
		change func() error
	}{
		{"the table as it is:", nothing},
		{"a second version:", t.revised},
		{"the file is lost:", t.lose},
		{"and is back:", t.back},
		{"it is cut off:", t.cut},
		{"something else is there:", t.swap},
		{"nearly everything is gone:", t.tiny},
		{"the first version again:", t.original},
	} {
		if err := scene.change(); err != nil {
			return err
		}
		if err := wholePass(p); err != nil {
			return err
		}
		show(out, scene.name, p)
	}
	return nil
}

// wholePass waits until every partition has begun and completed a pass from now on.
func wholePass(p *engine.Pipeline) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	for before := passes(p); before == 0 || passes(p) < before+2; {
		select {
		case <-tick.C:
			if before == 0 {
				before = passes(p)
			}
		case <-late.C:
			return errors.New("no pass is completed")
		}
	}
	return nil
}

// passes is the number of the least pass under way, 0 before every partition works.
func passes(p *engine.Pipeline) (least uint64) {
	for _, v := range p.VisitStreams() {
		for i, part := range v.Parts {
			if i == 0 || part.Pass < least {
				least = part.Pass
			}
		}
		if len(v.Parts) < v.Partitions {
			return 0
		}
	}
	return least
}
