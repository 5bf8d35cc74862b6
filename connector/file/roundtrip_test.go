package file

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// TestWhatTheSinkWritesTheSourceReads: data comes out as it went in.
func TestWhatTheSinkWritesTheSourceReads(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", 10<<20/16)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	s := flowtest.Schema(t, "i int64", "u uint64", "s string", "w utf8", "d double", "b boolean", "a any")
	null := schema.Null()
	rows := []schema.Row{
		{schema.Int64(math.MinInt64), schema.Uint64(math.MaxUint64), schema.String("\x00"), schema.String("\x00"), schema.Double(math.SmallestNonzeroFloat64), schema.Boolean(true), schema.Any(`{"k"=[1;"\xff"]}`)},
		{schema.Int64(math.MaxInt64), schema.Uint64(1<<53 + 1), schema.String(string(every)), schema.String("ü\u2028\U0001F600"), schema.Double(math.Inf(-1)), schema.Boolean(false), schema.Any(`"x"`)},
		{null, null, schema.String(""), schema.String(""), null, null, null},
		{null, null, null, null, null, null, null},
		{schema.Int64(0), schema.Uint64(0), schema.String(big), schema.String(big), schema.Double(0.1), null, schema.Any(`"` + strings.Repeat("x", 1<<20) + `"`)},
		{schema.Int64(-1), schema.Uint64(1), schema.String("\r\n\"',;\t{\"a\":1}"), schema.String(" x "), schema.Double(1e300), null, schema.Any(`[]`)},
	}
	var messages []flow.Message
	for _, row := range rows {
		messages = append(messages, flowtest.Message("in", flow.Key{}, 0, s, row))
	}
	for _, format := range []string{"format=jsonl", "format=csv; delimiter=\"\t\""} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, newSinkOf(t, dir, `{path="rows"; `+format+`}`), messages)
			src, err := NewSource(connector.Setup{
				Parameters: parameters(t, fmt.Sprintf(`{path=%q; finite=%%true; %s}`, filepath.Join(dir, "rows"), format)), Schema: s,
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Open(t.Context(), filepath.Join(dir, "rows"), nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.Read(t.Context(), unlimited)
			if err != nil || len(b.Rows) != len(rows) || !b.End {
				t.Fatalf("%d rows, end %v, error %v", len(b.Rows), b.End, err)
			}
			for i, row := range rows {
				for c := range row {
					if !slices.Equal(b.Rows[i][c:c+1], row[c:c+1]) {
						t.Errorf("row %d, column %s: %.100s, want %.100s", i, s.Columns()[c].Name, b.Rows[i][c], row[c])
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// writeAll writes the messages in two batches.
func writeAll(t *testing.T, sink connector.Sink, messages []flow.Message) {
	t.Helper()
	w, _, err := sink.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range [][]flow.Message{messages[:1], messages[1:]} {
		if _, err := w.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
