package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheCorrectionsAreThoseOfTheFlights(t *testing.T) {
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got bytes.Buffer
	if err := derive(in, &got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not what the flights give: run go run . here", to)
	}
}
