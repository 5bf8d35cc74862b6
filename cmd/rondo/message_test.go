package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Messages show names and values in one way: as they are. What could not be seen so
// is a nameText.
func TestMessagesDoNotQuoteNames(t *testing.T) {
	quotes := regexp.MustCompile(`(Errorf|failf|outOfRange)\([^\n]*%q`)
	looked := 0
	for _, dir := range []string{".", filepath.Join("..", "..", "console")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			looked++
			for _, found := range quotes.FindAllString(string(text), -1) {
				t.Errorf("%s: %s: show it with %%s, and nameText where anything may be in it", path, found)
			}
		}
	}
	if looked < 50 {
		t.Errorf("%d files were looked at: they are elsewhere", looked)
	}
}
