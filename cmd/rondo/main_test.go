package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary rondo itself, and more commands of the
// scripts, when it is started by their names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rondo": main, "stubborn": stubborn})
}
