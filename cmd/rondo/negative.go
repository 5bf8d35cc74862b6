package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// negative tells an argument that is no flag although it begins with a hyphen: no
// flag begins with a number.
func negative(arg string) bool {
	number, signed := strings.CutPrefix(arg, "-")
	number = strings.TrimPrefix(number, ".")
	return signed && number != "" && number[0] >= '0' && number[0] <= '9'
}

// negatives orders arguments so that the parser does not take a negative number for
// a flag: it is joined to the flag before it, or else all arguments that are no flags
// go behind "--". Without one nothing changes.
func negatives(app *kong.Application, args []string) []string {
	n, at := commandOf(app.Node, args)
	takes := valueFlags(n)
	flags, rest, found := []string(nil), []string(nil), false
	for i := at; i < len(args); i++ {
		arg := args[i]
		value := takes[arg] && i+1 < len(args)
		switch {
		case arg == "--":
			rest, i = append(rest, args[i+1:]...), len(args)
		case value && negative(args[i+1]):
			flags, found, i = append(flags, arg+"="+args[i+1]), true, i+1
		case value:
			flags, i = append(flags, arg, args[i+1]), i+1
		case strings.HasPrefix(arg, "-") && arg != "-" && !negative(arg):
			flags = append(flags, arg)
		default:
			rest, found = append(rest, arg), found || negative(arg)
		}
	}
	if !found {
		return args
	}
	return append(append(append(args[:at:at], flags...), "--"), rest...)
}

// commandOf finds the command that arguments begin with, and where it ends.
func commandOf(n *kong.Node, args []string) (command *kong.Node, end int) {
	for end < len(args) {
		var next *kong.Node
		for _, child := range n.Children {
			if child.Name == args[end] {
				next = child
			}
		}
		if next == nil {
			break
		}
		n, end = next, end+1
	}
	return n, end
}

// valueFlags are the flags of a command that are followed by a value.
func valueFlags(n *kong.Node) map[string]bool {
	all := map[string]bool{}
	if n.DefaultCmd != nil {
		all = valueFlags(n.DefaultCmd)
	}
	for _, f := range n.Flags {
		if !f.IsBool() {
			all["--"+f.Name] = true
		}
	}
	return all
}
