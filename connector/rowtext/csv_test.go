package rowtext

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// TestCSVTranscript: the columns of the schema, a blank line, and a text.
// "decode" prints what becomes of each of its rows; arguments are the dialect.
func TestCSVTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/csv", func(t *testing.T, td *datadriven.TestData) string {
		columns, text, _ := strings.Cut(td.Input, "\n\n")
		dialect := CSV{Delimiter: ',', Header: true}
		delimiter := ","
		td.MaybeScanArgs(t, "delimiter", &delimiter)
		td.MaybeScanArgs(t, "header", &dialect.Header)
		td.MaybeScanArgs(t, "columns", &dialect.Columns)
		dialect.Delimiter = delimiter[0]
		s := flowtest.Schema(t, strings.Split(columns, "\n")...)
		d, err := NewCSVDecoder(s, dialect)
		if err != nil {
			return fmt.Sprintln("error:", err)
		}
		var b strings.Builder
		for _, text := range texts(d, unquote(t, text)) {
			row := make(schema.Row, s.Len())
			is, err := d.Decode(text, row)
			var e *Error
			switch {
			case errors.As(err, &e) && e.Header:
				fmt.Fprintln(&b, "error in the header:", err)
				return b.String()
			case err != nil:
				fmt.Fprintln(&b, "error:", err)
			case is:
				if err := s.Check(row); err != nil {
					t.Errorf("%s: %q: the row does not fit its schema: %v", td.Pos, text, err)
				}
				fmt.Fprintln(&b, row)
			}
		}
		return b.String()
	})
}

// texts cuts a text into the texts of its rows.
func texts(d Decoder, text string) []string {
	var texts []string
	for text != "" {
		n := d.Scan(text)
		if n < 0 {
			n = len(text)
		}
		texts = append(texts, text[:n])
		text = text[n:]
	}
	return texts
}

// FuzzCSVDecode compares rows and fields with encoding/csv, which differs in two
// things: it takes the carriage return from line ends inside quotes, and lets
// others stand in fields without quotes.
func FuzzCSVDecode(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a,\"b\nc\"\"d\",\n", "\"a\r\nb\"\r\n\r\nc\r", "a\"b,c\n\"d\"e,f\ng", "\"open,\n1,2\n", ",,\n\"\"\n,\"\"\n", "\r\n\r\r\na\r\r\n", "\"\"\"\"\n", "\"a\" ,b\n",
	} {
		f.Add(text, byte(','))
		f.Add(strings.ReplaceAll(text, ",", ";"), byte(';'))
	}
	s := flowtest.Schema(f, "a string")
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		d, err := NewCSVDecoder(s, CSV{Delimiter: delimiter})
		if err != nil {
			return
		}
		slow := csv.NewReader(strings.NewReader(text))
		slow.Comma, slow.FieldsPerRecord = rune(delimiter), -1
		for _, row := range texts(d, text) {
			row = strings.TrimSuffix(strings.TrimSuffix(row, "\n"), "\r")
			if row == "" {
				continue
			}
			want, wantErr := slow.Read()
			err := d.split(row)
			carriage := func(field string) bool { return strings.Contains(field, "\r") }
			switch {
			case err != nil && strings.Contains(err.Error(), "carriage return") && slices.ContainsFunc(want, carriage):
			case (err == nil) != (wantErr == nil):
				t.Fatalf("row %q of %q: error %v, encoding/csv says %v", row, text, err, wantErr)
			case err == nil && !slices.EqualFunc(d.fields, want, func(f csvField, w string) bool { return strings.ReplaceAll(f.text, "\r\n", "\n") == w }):
				t.Fatalf("row %q of %q is %v, want %q", row, text, d.fields, want)
			}
		}
		if more, err := slow.Read(); err != io.EOF {
			t.Fatalf("%q: encoding/csv has one more row %q, error %v", text, more, err)
		}
	})
}

// TestCSVScanInPieces: where a text is cut between two reads changes nothing.
func TestCSVScanInPieces(t *testing.T) {
	s := flowtest.Schema(t, "a string")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab,]|"|""|\n|\r\n){0,40}`).Draw(t, "text")
		d, err := NewCSVDecoder(s, CSV{Delimiter: ','})
		if err != nil {
			t.Fatal(err)
		}
		want := texts(d, text)
		d.Restart()
		var got []string
		row := ""
		for rest := text; rest != ""; {
			piece := rest[:rapid.IntRange(1, len(rest)).Draw(t, "piece")]
			n := d.Scan(piece)
			if n < 0 {
				row += piece
				rest = rest[len(piece):]
				continue
			}
			got = append(got, row+piece[:n])
			row, rest = "", rest[n:]
		}
		if row != "" {
			got = append(got, row)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in pieces has the rows %q, want %q", text, got, want)
		}
	})
}

// FuzzCSVEncode writes rows of any values and reads them back.
func FuzzCSVEncode(f *testing.F) {
	f.Add(int64(-1), uint64(1<<64-1), 1.5, true, "x\x00\xff\"\r\n,", "", `{"a"=[1;%nan;"\xff"]}`, byte(','))
	f.Add(int64(-1<<63), uint64(0), 1e21, false, "", "\r", `""`, byte('\t'))
	s := flowtest.Schema(f, "i int64", "u uint64", "d double", "b boolean", "s string", "t utf8", "a any", "none int64", "nothing string")
	f.Fuzz(func(t *testing.T, i int64, u uint64, dbl float64, b bool, text, text8, structured string, delimiter byte) {
		e, err := NewCSVEncoder(s, delimiter)
		if err != nil {
			return
		}
		node, err := yson.Parse([]byte(structured), yson.YSON)
		if err != nil {
			node = yson.String(structured)
		}
		want := schema.Row{schema.Int64(i), schema.Uint64(u), schema.Double(dbl), schema.Boolean(b), schema.String(text),
			schema.String(strings.ToValidUTF8(text8, "?")), schema.Any(string(yson.Encode(node))), schema.Null(), schema.Null()}
		csv, err := e.AppendRow(e.AppendHeader(nil), want)
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewCSVDecoder(s, CSV{Delimiter: delimiter, Header: true})
		if err != nil {
			t.Fatal(err)
		}
		rows := texts(d, string(csv))
		if len(rows) != 2 {
			t.Fatalf("%q has %d rows, want a header and one", csv, len(rows))
		}
		got := make(schema.Row, s.Len())
		if is, err := d.Decode(rows[0], got); is || err != nil {
			t.Fatalf("%q is a row (%v) or an error %v, want the header", rows[0], is, err)
		}
		if err := decodeRow(d, rows[1], got); err != nil {
			t.Fatalf("%q: %v", rows[1], err)
		}
		if dbl != dbl { // any NaN is as good
			got[2], want[2] = schema.Null(), schema.Null()
		}
		got[6], want[6] = schema.Null(), schema.Null() // TestAnyValuesComeBack
		if got.String() != want.String() {
			t.Fatalf("%q is read as %v, want %v", csv, got, want)
		}
	})
}

// TestCSVOfOneColumn: a row must not become a blank line.
func TestCSVOfOneColumn(t *testing.T) {
	for column, values := range map[string][]schema.Value{
		"n int64":           {schema.Null(), schema.Int64(1), schema.Null()},
		"s string required": {schema.String(""), schema.String("x"), schema.String("\r")},
		"a any":             {schema.Null(), schema.Any(`"x"`)},
	} {
		s := flowtest.Schema(t, column)
		e, err := NewCSVEncoder(s, ',')
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewCSVDecoder(s, CSV{Delimiter: ',', Header: true})
		if err != nil {
			t.Fatal(err)
		}
		text := e.AppendHeader(nil)
		for _, v := range values {
			if text, err = e.AppendRow(text, schema.Row{v}); err != nil {
				t.Fatal(err)
			}
		}
		var got []schema.Value
		for _, text := range texts(d, string(text)) {
			row := make(schema.Row, 1)
			if is, err := d.Decode(text, row); err != nil {
				t.Fatal(err)
			} else if is {
				got = append(got, row[0])
			}
		}
		if !slices.Equal(got, values) {
			t.Errorf("%q is read as %v, want %v", text, got, values)
		}
	}
}

func TestWhatCSVCannotHoldIsRefused(t *testing.T) {
	for want, columns := range map[string][]string{
		"a CSV row needs at least one column":                          {},
		"column s: a row of one string cannot tell null from an empty": {"s string"},
	} {
		if _, err := NewCSVEncoder(flowtest.Schema(t, columns...), ','); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: error %v, want it to begin with %s", columns, err, want)
		}
	}
	s := flowtest.Schema(t, "n int64", "a any")
	for _, delimiter := range []byte{0, '"', '\n', '\r', 0x80, 0xff} {
		_, err := NewCSVEncoder(s, delimiter)
		_, err2 := NewCSVDecoder(s, CSV{Delimiter: delimiter})
		if err == nil || err2 == nil {
			t.Errorf("the delimiter %q is taken", delimiter)
		}
	}
	e, err := NewCSVEncoder(s, ',')
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []schema.Row{{}, {schema.Null(), schema.Any("{")}} {
		if _, err := e.AppendRow(nil, row); err == nil {
			t.Errorf("the row %v was written", row)
		}
	}
}
