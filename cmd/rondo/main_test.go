package main

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain makes this test binary rondo itself, and more commands of the
// scripts, when it is started by their names.
func TestMain(m *testing.M) {
	commands := map[string]func(){"rondo": main, "stubborn": stubborn}
	maps.Copy(commands, mountCommands())
	testscript.Main(leakChecked{m}, commands)
}

// leakChecked fails tests that leave goroutines behind.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
