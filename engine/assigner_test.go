package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

func TestAssignerReadsEveryFormat(t *testing.T) {
	text := func(s string) schema.Value { return schema.String(s) }
	for _, c := range []struct {
		name   string
		column schema.Type
		a      spec.Assigner
		value  schema.Value
		want   string // RFC 3339, or a part of the error
	}{
		{"seconds", schema.TypeInt64, spec.Assigner{Format: "seconds"}, schema.Int64(978310020), "2001-01-01T00:47:00Z"},
		{"seconds, unsigned", schema.TypeUint64, spec.Assigner{Format: "seconds"}, schema.Uint64(978310020), "2001-01-01T00:47:00Z"},
		{"milliseconds", schema.TypeInt64, spec.Assigner{Format: "milli_seconds"}, schema.Int64(978310020123), "2001-01-01T00:47:00.123Z"},
		{"before the epoch", schema.TypeInt64, spec.Assigner{Format: "seconds"}, schema.Int64(-1), "1969-12-31T23:59:59Z"},
		{"ISO 8601", schema.TypeString, spec.Assigner{Format: "iso8601"}, text("2001-01-01T00:47:00+02:00"), "2000-12-31T22:47:00Z"},
		{"ISO 8601 with a fraction", schema.TypeString, spec.Assigner{Format: "iso8601"}, text("2001-01-01T00:47:00.5Z"), "2001-01-01T00:47:00.5Z"},
		{"ISO 8601 without a zone", schema.TypeString, spec.Assigner{Format: "iso8601"}, text("2001-01-01T00:47:00"), "2001-01-01T00:47:00Z"},
		{"ISO 8601, a day", schema.TypeString, spec.Assigner{Format: "iso8601"}, text("2001-01-01"), "2001-01-01T00:00:00Z"},
		{"a Go layout", schema.TypeString, spec.Assigner{Format: "2006/01/02 15:04"}, text("2001/01/01 00:47"), "2001-01-01T00:47:00Z"},
		{"days", schema.TypeDate, spec.Assigner{Format: "seconds"}, schema.Uint64(18000), "2019-04-14T00:00:00Z"},
		{"the last day", schema.TypeDate, spec.Assigner{Format: "seconds"}, schema.Uint64(49672), "2105-12-31T00:00:00Z"},
		{"a datetime", schema.TypeDatetime, spec.Assigner{Format: "seconds"}, schema.Uint64(1577836800), "2020-01-01T00:00:00Z"},
		{"microseconds", schema.TypeTimestamp, spec.Assigner{Format: "seconds"}, schema.Uint64(1577836800000001), "2020-01-01T00:00:00.000001Z"},
		{"a date that is null", schema.TypeDate, spec.Assigner{Format: "seconds"}, schema.Null(), "column at: null is not a time"},
		{"the future, limited", schema.TypeInt64, spec.Assigner{Format: "seconds", LimitBySystemTimestamp: true}, schema.Int64(1 << 33), "2020-01-01T00:00:00Z"},
		{"null", schema.TypeInt64, spec.Assigner{Format: "seconds"}, schema.Null(), "column at: null is not a time"},
		{"no time at all", schema.TypeString, spec.Assigner{Format: "2006/01/02 15:04"}, text("soon"), `"soon" is no time as 2006/01/02 15:04`},
		{"too many seconds", schema.TypeInt64, spec.Assigner{Format: "seconds"}, schema.Int64(1 << 40), "not a time within the range"},
		{"too many seconds, unsigned", schema.TypeUint64, spec.Assigner{Format: "seconds"}, schema.Uint64(1 << 63), "not a time within the range"},
		{"a year out of range", schema.TypeString, spec.Assigner{Format: "2006"}, text("9999"), "outside the range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := schema.New([]schema.Column{{Name: "at", Type: c.column}})
			if err != nil {
				t.Fatal(err)
			}
			c.a.Column = "at"
			assign, err := newAssigner(c.a, s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := assign(schema.Row{c.value}, flow.Time(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %q, want %q", err, c.want)
				}
				return
			}
			if got.String() != c.want {
				t.Errorf("%s is %s, want %s", c.value, got, c.want)
			}
		})
	}
}

func TestAssignerIsCheckedAtSubmit(t *testing.T) {
	s, err := schema.New([]schema.Column{{Name: "text", Type: schema.TypeString}, {Name: "n", Type: schema.TypeInt64}, {Name: "f", Type: schema.TypeDouble},
		{Name: "day", Type: schema.TypeDate}, {Name: "took", Type: schema.TypeInterval}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ column, format, want string }{
		{"gone", "seconds", `no column "gone"`},
		{"text", "seconds", "format seconds needs an integer column, text is string"},
		{"n", "iso8601", "format iso8601 needs a string column, n is int64"},
		{"f", "milli_seconds", "needs an integer column, f is double"},
		{"day", "milli_seconds", "day is date, whose unit is known: leave the format out"},
		{"day", "iso8601", "leave the format out"},
		{"took", "seconds", "format seconds needs an integer column, took is interval"},
		{"text", "dd.mm.yyyy", `unknown format "dd.mm.yyyy": use seconds`},
	} {
		_, err := newAssigner(spec.Assigner{Column: c.column, Format: c.format}, s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s by %s: error %v, want %q", c.column, c.format, err, c.want)
		}
	}
}
