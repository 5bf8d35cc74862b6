package external

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

	"github.com/rondo-flow/rondo/schema"
	"pgregory.net/rapid"
)

// TestScansAgreeWithAMap lists slices of a table as visitors do, and compares each
// answer with a plain map: while reads fail, lists are cut by others and begin
// again where they were cut, passes begin anew, and the file is replaced, cut off
// and touched, between lists and in the middle of them. An answer may say that it
// does not know; it may never be wrong.
func TestScansAgreeWithAMap(t *testing.T) {
	dir := t.TempDir()
	versions := makeVersions(t, dir)
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom(formats).Draw(rt, "format")
		policy := rapid.SampledFrom([]Policy{Retry, MarkUnreadable}).Draw(rt, "policy")
		m := newModel(t, filepath.Join(dir, "live"+format), format, policy, versions)
		defer m.close()
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			m.step(rt)
		}
	})
}

// version is what a file of the model holds.
type modelVersion struct {
	rows  map[string]int64 // by encoded key
	files map[string]string
}

// makeVersions writes tables of several sizes, of two values each.
func makeVersions(t *testing.T, dir string) (out []modelVersion) {
	for i, n := range []int{3, 40, 2000, 2000, 900} {
		rows := map[string]int64{}
		for name := range numbered(n) {
			rows[name] = int64(i)
		}
		v := modelVersion{rows: map[string]int64{}, files: map[string]string{}}
		for name, value := range rows {
			v.rows[keyOf(t, name)] = value
		}
		for _, format := range formats {
			v.files[format] = filepath.Join(dir, fmt.Sprintf("v%d%s", i, format))
			writeTable(t, v.files[format], rows)
		}
		out = append(out, v)
	}
	return out
}

type model struct {
	t        *testing.T
	path     string
	format   string
	versions []modelVersion
	disk     *faultyDisk
	rig      *rig
	scan     *Scan
	policy   Policy
	current  *modelVersion // nil: the file is spoiled
	at       [modelBuckets]string
	failing  int    // reads to come that fail
	middle   func() // to be done in the middle of the next list
	reads    int
}

const modelBuckets = 3

func newModel(t *testing.T, path, format string, policy Policy, versions []modelVersion) *model {
	m := &model{t: t, path: path, format: format, versions: versions, policy: policy}
	m.put(&versions[2])
	m.rig = newRig(t, path, "", fmt.Sprintf("unavailable_source_policy=%s", policy))
	m.rig.joiner.Set(DynamicParameters{ReadAttempts: 2, Backoff: time.Second, MaxShrinkRatio: 0.5})
	m.disk = &faultyDisk{fail: m.read}
	m.rig.joiner.source.disk = m.disk
	m.scan = m.rig.joiner.Scan()
	m.rewind()
	return m
}

func (m *model) close() {
	m.scan.Close()
	m.rig.joiner.Close()
}

// read happens before every read of the file.
func (m *model) read() error {
	m.reads++
	if m.middle != nil && m.reads > 1 {
		m.middle()
		m.middle = nil
	}
	if m.failing > 0 {
		m.failing--
		return errors.New("the disk is gone")
	}
	return nil
}

// put replaces the file as people should: by renaming.
func (m *model) put(v *modelVersion) {
	m.current = v
	for _, end := range []string{"", MetaSuffix} {
		data, err := os.ReadFile(v.files[m.format] + end)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(m.path+".new", data, 0o644)
		}
		if err == nil {
			err = os.Rename(m.path+".new", m.path+end)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// cut cuts the file off where it is.
func (m *model) cut(part float64) {
	info, err := os.Stat(m.path)
	if err == nil {
		err = os.Truncate(m.path, int64(float64(info.Size())*part))
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.current = nil
}

// rewind begins a new pass.
func (m *model) rewind() {
	for b := range m.at {
		m.at[b], _ = m.bounds(b)
	}
}

// bounds of a bucket.
func (m *model) bounds(b int) (lower, upper string) {
	if b > 0 {
		lower = string(schema.AppendHash(nil, uint64(b)*(1<<62)))
	}
	if b < modelBuckets-1 {
		upper = string(schema.AppendHash(nil, uint64(b+1)*(1<<62)))
	}
	return lower, upper
}

func (m *model) step(rt *rapid.T) {
	switch rapid.SampledFrom([]string{"list", "list", "list", "list", "list", "fail", "replace", "cut", "pass", "back", "wait", "touch", "middle"}).Draw(rt, "step") {
	case "fail":
		m.failing = rapid.IntRange(1, 5).Draw(rt, "failing")
	case "replace":
		m.put(&m.versions[rapid.IntRange(0, len(m.versions)-1).Draw(rt, "version")])
	case "cut":
		m.cut(rapid.Float64Range(0, 0.99).Draw(rt, "part"))
	case "touch":
		m.rig.now += time.Second
		if err := os.Chtimes(m.path, time.Time{}, time.Unix(rapid.Int64Range(1, 1e9).Draw(rt, "time"), 0)); err != nil {
			rt.Fatal(err)
		}
	case "pass":
		if err := m.rig.joiner.PassCompleted(); err != nil {
			rt.Fatal(err)
		}
		m.rewind()
	case "back":
		b := rapid.IntRange(0, modelBuckets-1).Draw(rt, "bucket")
		m.at[b], _ = m.bounds(b)
	case "wait":
		m.rig.now += 2 * time.Second
	case "middle":
		v := rapid.IntRange(0, len(m.versions)-1).Draw(rt, "version")
		m.reads, m.middle = 0, func() { m.put(&m.versions[v]) }
	default:
		m.list(rt)
	}
}

// list lists the next slice of a bucket, as long as something is left of it, and
// begins the next one where it may have been cut.
func (m *model) list(rt *rapid.T) {
	b := rapid.IntRange(0, modelBuckets-1).Draw(rt, "bucket")
	lower := m.at[b]
	_, upper := m.bounds(b)
	if lower == "end" {
		return
	}
	if rapid.Bool().Draw(rt, "short") {
		h := rapid.Uint64Range(uint64(b)*(1<<62), uint64(b)*(1<<62)+1<<62-1).Draw(rt, "hash")
		if s := string(schema.AppendHash(nil, h)); s > lower {
			upper = s
		}
	}
	sl := Slice{Bucket: b, Lower: lower, Upper: upper, MaxRows: rapid.IntRange(1, 900).Draw(rt, "rows"), MaxBytes: rapid.IntRange(1, 50_000).Draw(rt, "bytes")}
	a, err := m.scan.List(context.Background(), sl)
	end := m.judge(rt, sl, a, err)
	if end == lower {
		return // once more
	}
	if cut := m.keyIn(rt, a); cut != "" {
		end = cut // another source was complete to here only
	}
	if _, last := m.bounds(b); end == last || end == "" {
		end = "end"
	}
	m.at[b] = end
}

// keyIn draws a key of an answer, or none.
func (m *model) keyIn(rt *rapid.T, a Answer) string {
	if len(a.Entries) < 2 || !rapid.Bool().Draw(rt, "cut") {
		return ""
	}
	return a.Entries[rapid.IntRange(1, len(a.Entries)-1).Draw(rt, "at")].Key
}

// judge compares an answer with the map, and returns up to where it is good.
func (m *model) judge(rt *rapid.T, sl Slice, a Answer, err error) (end string) {
	switch {
	case err != nil:
		if m.policy != Retry || len(a.Entries) > 0 {
			rt.Fatalf("%+v failed: %v", sl, err)
		}
		return sl.Lower
	case a.Unreadable:
		if len(a.Entries) > 0 {
			rt.Fatal("an unreadable slice has rows")
		}
		return sl.Upper
	case m.current == nil:
		rt.Fatalf("a file that was cut off was read: %d rows", len(a.Entries))
	}
	end = sl.Upper
	if a.CompleteTo != "" {
		end = a.CompleteTo
	}
	want := map[string]int64{}
	for k, v := range m.current.rows {
		if k >= sl.Lower && (end == "" || k < end) {
			want[k] = v
		}
	}
	got := map[string]int64{}
	for _, e := range a.Entries {
		got[e.Key] = e.Row[2].AsInt64()
	}
	if !maps.Equal(got, want) || !slices.IsSortedFunc(a.Entries, func(x, y *Entry) int { return compare(x.Key, y.Key) }) {
		rt.Fatalf("%+v: %d rows, want %d up to %x", sl, len(got), len(want), end)
	}
	if before := m.rig.joiner.before; a.Doubtful != (before > 0 && 2*int64(len(m.current.rows)) < before) {
		rt.Fatalf("doubtful: %v with %d rows after %d", a.Doubtful, len(m.current.rows), before)
	}
	if len(a.Entries) > sl.MaxRows {
		rt.Fatalf("%d rows, at most %d were wanted", len(a.Entries), sl.MaxRows)
	}
	return end
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}
