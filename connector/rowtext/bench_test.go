package rowtext

import (
	"testing"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// BenchmarkDecode reads one row of the flights example.
func BenchmarkDecode(b *testing.B) {
	s := flowtest.Schema(b, "date string required", "delay int64 required", "origin string required", "destination string required")
	csv, err := NewCSVDecoder(s, CSV{Delimiter: ',', Columns: []string{"date", "delay", "distance", "origin", "destination"}})
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]struct {
		decoder Decoder
		row     string
	}{
		"json":       {NewJSONDecoder(s), `{"date":"2001/01/17 20:47","delay":66,"distance":1750,"origin":"DTW","destination":"LAS"}` + "\n"},
		"csv":        {csv, "2001/01/17 20:47,66,1750,DTW,LAS\n"},
		"csv quoted": {csv, `"2001/01/17 20:47",66,1750,"DTW","LAS"` + "\n"},
	} {
		b.Run(name, func(b *testing.B) {
			row := make(schema.Row, 4)
			b.SetBytes(int64(len(c.row)))
			b.ReportAllocs()
			for range b.N {
				if err := decodeRow(c.decoder, c.row[:c.decoder.Scan(c.row)], row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
