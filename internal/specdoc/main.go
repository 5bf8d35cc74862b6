package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: specdoc ROOT, the folder of go.mod")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "specdoc:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	page, err := reference(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "spec.md"), []byte(page), 0o644)
}
