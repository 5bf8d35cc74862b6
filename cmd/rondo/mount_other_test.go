//go:build !linux

package main

// mountCommands are none where there are no mount namespaces.
func mountCommands() map[string]func() { return nil }
