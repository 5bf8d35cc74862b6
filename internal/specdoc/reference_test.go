package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func thisReference(t *testing.T) string {
	t.Helper()
	text, err := reference(root)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheReferenceIsTheSameEachTime(t *testing.T) {
	first, second := thisReference(t), thisReference(t)
	if first != second {
		t.Fatal("two runs over one tree differ")
	}
}

// TestEveryTaggedNameIsInTheReference looks for the tags in the text of the
// packages, not in the syntax that the generator reads.
func TestEveryTaggedNameIsInTheReference(t *testing.T) {
	text, count := thisReference(t), 0
	for _, pattern := range []string{"spec/*.go", "schema/*.go", "function/*.go", "connector/*/*.go", "external/parameters.go"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile("`yson:\"([^\",]+)").FindAllStringSubmatch(string(data), -1) {
				for name := range strings.SplitSeq(m[1], "|") {
					count++
					if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "."+name+"`") {
						t.Errorf("%s: %s is not in the reference", path, name)
					}
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d names were found", count)
	}
}

func TestLinksLeadToHeadings(t *testing.T) {
	text := thisReference(t)
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, anchor(strings.ReplaceAll(m[1], " ", "-")))
	}
	links := regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1)
	if len(links) < 20 {
		t.Errorf("only %d links were found", len(links))
	}
	for _, m := range links {
		if !slices.Contains(anchors, m[1]) {
			t.Errorf("no heading has the anchor %s", m[1])
		}
	}
}

func TestEveryRowOfATableHasFiveCells(t *testing.T) {
	for line := range strings.SplitSeq(thisReference(t), "\n") {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), " |"); strings.HasPrefix(line, "| `") && cells != 5 && cells != 2 {
			t.Errorf("%d cells in %s", cells, line)
		}
	}
}

func TestWriteReplacesThePage(t *testing.T) {
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(root+"/docs")); err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	for _, dir := range []string{"spec", "schema", "function", "connector", "external"} {
		if err := os.CopyFS(filepath.Join(tree, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(tree); err == nil {
		t.Error("a tree without docs passes")
	}
	if err := os.Rename(copied, filepath.Join(tree, "docs")); err != nil {
		t.Fatal(err)
	}
	if err := write(tree); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(tree, "docs", "spec.md"))
	if err != nil || string(data) != thisReference(t) {
		t.Errorf("what is written is not the reference: %v", err)
	}
}
