package main

import (
	"fmt"
	"runtime/debug"
)

type versionCommand struct{}

// Help is shown below the usage.
func (versionCommand) Help() string {
	return `It is a module's version, or else the revision that the binary was built from.

Example:
  rondo version`
}

// Run prints the version of this binary and of the Go that built it.
func (versionCommand) Run(io *streams) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err := fmt.Fprintln(io.out, describe(info))
	return err
}

// describe tells what a binary was built from: a module's version, or else the
// revision of the folder.
func describe(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" {
		version = "(unknown)"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if revision := set["vcs.revision"]; revision != "" && version == "(devel)" {
		version += " " + revision
	}
	return fmt.Sprintf("rondo %s, %s %s/%s", version, info.GoVersion, set["GOOS"], set["GOARCH"])
}
