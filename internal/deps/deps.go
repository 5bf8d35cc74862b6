//go:build deps

// Package deps pins modules while packages are being written.
package deps

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/cockroachdb/pebble/v2/vfs"
	_ "github.com/dgryski/go-farm"
	_ "github.com/fxamacker/cbor/v2"
	_ "github.com/goccy/go-yaml"
	_ "github.com/goccy/go-yaml/parser"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/vbauerster/mpb/v8"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/go/packages"
	_ "honnef.co/go/tools/staticcheck"
	_ "pgregory.net/rapid"
)
