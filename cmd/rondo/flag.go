package main

import (
	"errors"
	"fmt"
	"strconv"

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

// pathFlag is a path that is given: an empty one, which a variable that is not
// set makes, would be another place than the one that was meant.
type pathFlag string

// UnmarshalText takes a path.
func (f *pathFlag) UnmarshalText(text []byte) error {
	if *f = pathFlag(text); *f == "" {
		return errors.New("the path is empty: name a folder, or leave the flag out")
	}
	return nil
}
