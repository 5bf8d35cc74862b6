package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"
	"github.com/rondo-flow/rondo/yson"
)

// sizeFlag is a number of bytes on the command line, above 0.
type sizeFlag yson.Size

// UnmarshalText reads 16Mi, 1G or a plain number.
func (f *sizeFlag) UnmarshalText(text []byte) error {
	size, err := yson.ParseSize(string(text))
	if err == nil && size <= 0 {
		err = fmt.Errorf("%s is no size to work with: give one above 0", nameText(text))
	}
	*f = sizeFlag(size)
	return err
}

// limitFlag is how many there may be; 0 is any number.
type limitFlag int

// UnmarshalText reads a number.
func (f *limitFlag) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		err = fmt.Errorf("%s is no limit: give a number from 0 on, 0 for no limit", nameText(text))
	}
	*f = limitFlag(n)
	return err
}

// countFlag is how many there are to be, at least one.
type countFlag int

// UnmarshalText reads a number.
func (f *countFlag) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || n == 0 {
		err = fmt.Errorf("%s is no number from 1 on", nameText(text))
	}
	*f = countFlag(n)
	return err
}

// emptyFlag refuses a flag without a value. An empty one, which a shell variable that
// is not set makes, would be taken for a flag that was left out, and the command would
// go to another place than the one that was meant. A variable of the environment may be
// empty: that is how one is taken back.
func emptyFlag(command *kong.Context) error {
	for _, p := range command.Path {
		if p.Flag != nil && holdsEmpty(command.FlagValue(p.Flag)) {
			or := ", or leave the flag out"
			if p.Flag.Required {
				or = ""
			}
			return fmt.Errorf("--%s is empty, as a shell variable that is not set makes it: give a value%s", p.Flag.Name, or)
		}
	}
	for _, f := range command.Flags() {
		if f.Required && holdsEmpty(command.FlagValue(f)) {
			return fmt.Errorf("missing flags: %s", f.Summary())
		}
	}
	return nil
}

func holdsEmpty(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case []string:
		return slices.Contains(v, "")
	}
	return false
}
