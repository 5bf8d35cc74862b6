package main

import "github.com/alecthomas/kong"

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to be told about; without one, all are listed."`
}

// Help is shown below the usage.
func (helpCommand) Help() string {
	return `It is the same as --help behind a command.

Examples:
  rondo help run
  rondo help queue push`
}

// Run shows the help of a command.
func (c *helpCommand) Run(parser *kong.Kong) error {
	if _, err := parser.Parse(append(c.Command, "--help")); err != nil {
		return &usageError{err}
	}
	return nil
}
