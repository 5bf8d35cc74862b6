package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store/storetest"
)

// transcript reads queue q with one source. Commands:
//
//	create partitions=N
//	push partition=P           a value on each line
//	trim partition=P before=N
//	drop
//	source                     parameters
//	open partition=P [again]   at the beginning, or at the last offset
//	read [rows=N] [bytes=N]
//	position [taken=N]         as it would be told at the last offset
//	list
type transcript struct {
	t         *testing.T
	d         *datadriven.TestData
	store     *storetest.Model
	source    *source
	partition string
	reader    connector.Reader
	offset    []byte
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/source", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			tr := &transcript{t: t, store: storetest.NewModel()}
			datadriven.RunTest(t, path, tr.run)
		})
	})
}

// run runs a command and prints what came of it.
func (tr *transcript) run(t *testing.T, d *datadriven.TestData) string {
	tr.t, tr.d = t, d
	text, err := tr.command()
	if err != nil {
		text += "error: " + err.Error() + "\n"
	}
	if errors.Is(err, connector.ErrMalformed) {
		text += "malformed\n"
	}
	return text
}

func (tr *transcript) number(name string, otherwise int) int {
	tr.d.MaybeScanArgs(tr.t, name, &otherwise)
	return otherwise
}

func (tr *transcript) command() (text string, err error) {
	ctx := tr.t.Context()
	switch tr.d.Cmd {
	case "create":
		return "", tr.store.CreateQueue(ctx, "q", tr.number("partitions", 1))
	case "push":
		push(tr.t, tr.store, tr.number("partition", 0), strings.Split(tr.d.Input, "\n")...)
		return "", nil
	case "trim":
		return "", tr.store.TrimQueue(ctx, "q", tr.number("partition", 0), uint64(tr.number("before", 0)))
	case "drop":
		return "", tr.store.DropQueue(ctx, "q")
	case "source":
		return tr.makeSource()
	case "open":
		return tr.open()
	case "read":
		return tr.read()
	case "position":
		p, err := tr.source.Position(tr.partition, tr.offset, tr.number("taken", 0))
		return fmt.Sprintf("%s is at %d in partition %d of %s\n", p.Consumer, p.Offset, p.Partition, p.Queue), err
	case "list":
		keys, err := tr.source.Partitions(ctx)
		if err != nil {
			return "", err
		}
		return strings.Join(keys, " ") + "\n", nil
	default:
		return "", fmt.Errorf("unknown command %s", tr.d.Cmd)
	}
}

func (tr *transcript) makeSource() (string, error) {
	var err error
	if tr.source, err = newSource(tr.t, `{path=q;`+tr.d.Input+`}`); err != nil {
		return "", err
	}
	return "", tr.source.Attach(tr.t.Context(), tr.store)
}

func (tr *transcript) open() (string, error) {
	tr.partition = fmt.Sprintf("q/%d", tr.number("partition", 0))
	if !tr.d.HasArg("again") {
		tr.offset = nil
	}
	r, err := tr.source.Open(tr.t.Context(), tr.partition, tr.offset)
	if err == nil {
		tr.reader = r
	}
	return "", err
}

// read waits for an hour of virtual time at most.
func (tr *transcript) read() (string, error) {
	ctx, cancel := context.WithTimeout(tr.t.Context(), time.Hour)
	defer cancel()
	b, err := tr.reader.Read(ctx, connector.Limit{Rows: tr.number("rows", 100), Bytes: tr.number("bytes", 1000)})
	if errors.Is(err, context.DeadlineExceeded) {
		return "waits\n", nil
	}
	if err != nil {
		return "", err
	}
	tr.offset = b.Offset
	return describe(b), nil
}

func describe(b connector.Batch) string {
	var text strings.Builder
	for i, row := range b.Rows {
		fmt.Fprintf(&text, "%s at %d\n", row, b.EventTimestamps[i])
	}
	if b.Skipped > 0 {
		fmt.Fprintf(&text, "skipped %d: %v\n", b.Skipped, b.SkippedFirst)
	}
	if b.Gap != "" {
		fmt.Fprintf(&text, "gap: %s\n", b.Gap)
	}
	if b.End {
		text.WriteString("end\n")
	}
	if b.Offset == nil {
		text.WriteString("no offset\n")
	}
	return text.String()
}
