package file

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOneFileHasOneSpelling: however a path is spelled, its partition is the same,
// so that no file is read twice.
func TestOneFileHasOneSpelling(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "b.jsonl")
	p := place{dir: dir, patterns: []string{"a.jsonl", "./a.jsonl", filepath.Join(dir, "a.jsonl"), "a.*", filepath.Join(dir, "*.jsonl"), outside}}
	got, err := p.list()
	if err != nil || !slices.Equal(got, []string{outside, "a.jsonl"}) {
		t.Errorf("paths %q, %v", got, err)
	}
	for _, pattern := range []string{"./a.jsonl", filepath.Join(dir, "a.jsonl"), "a.*", filepath.Join(dir, "a*")} {
		if one := (place{dir: dir, patterns: []string{pattern}}); !one.has("a.jsonl") || one.has("c.csv") {
			t.Errorf("%s: has a.jsonl %v, c.csv %v", pattern, one.has("a.jsonl"), one.has("c.csv"))
		}
	}
}
