package pgsql_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGeneratedCodeIsThatOfTheStatements compares a sum over what the code is made
// from, and over the code. It needs no generator, so that it runs with the other
// tests; go generate writes both.
func TestGeneratedCodeIsThatOfTheStatements(t *testing.T) {
	const file = "generated.sum"
	sum := sumOf(t, "../../sqlc.yaml", "../../migrations/*.up.sql", "../../queries/*.sql", "*.sql.go", "db.go", "models.go")
	if *update {
		if err := os.WriteFile(file, []byte(sum), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(file)
	if err != nil || string(stored) != sum {
		t.Fatalf("the statements or the code made from them have changed: run go generate ./store/pgstore and commit what it makes (%v)\n got %s\nwant %s", err, sum, stored)
	}
}

var update = flag.Bool("update", false, "store the sum of the code that was just generated")

func sumOf(t *testing.T, patterns ...string) string {
	t.Helper()
	var lines []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%x %s\n", sha256.Sum256(text), strings.TrimPrefix(filepath.ToSlash(path), "../../")))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
