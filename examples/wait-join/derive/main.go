// Command derive writes the corrections: every 20th flight with a delay of five
// minutes more, one hour later. Run it from examples/wait-join/derive.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"
)

const (
	from = "../../flights/data/flights-20k.jsonl"
	to   = "../data/corrections.jsonl"

	layout = "2006/01/02 15:04"
)

type flight struct {
	Date        string `json:"date"`
	Delay       int64  `json:"delay"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

type correction struct {
	At string `json:"at"`
	flight
}

func main() {
	in, err := os.Open(from)
	if err != nil {
		log.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(derive(in, out), out.Close(), in.Close()); err != nil {
		log.Fatal(err)
	}
}

func derive(in io.Reader, out io.Writer) error {
	lines, rows := bufio.NewScanner(in), json.NewEncoder(out)
	for n := 1; lines.Scan(); n++ {
		if n%20 != 0 {
			continue
		}
		var c correction
		if err := json.Unmarshal(lines.Bytes(), &c.flight); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		date, err := time.Parse(layout, c.Date)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		c.At, c.Delay = date.Add(time.Hour).Format(layout), c.Delay+5
		if err := rows.Encode(c); err != nil {
			return err
		}
	}
	return lines.Err()
}
