package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
)

func TestTheSummaryShows(t *testing.T) {
	completed := outcome{Summary: &engine.Summary{
		Completed: true, Messages: 20_000, Epochs: 105, Visits: 4650, Passes: 6,
		Counts: map[string]int64{"late": 1234, "evictions": 1352, "early": 2}, Elapsed: 1289_400 * time.Microsecond, Rate: 69_186.7,
	}}
	stopped := outcome{Summary: &engine.Summary{Messages: 5}}
	timed := outcome{&engine.Summary{Messages: 5, Timers: 1200}, &console.Timers{Fired: 1200, Pending: 100_000, More: true}}
	for _, c := range []struct {
		name, form string
		sum        outcome
		want       string
	}{
		{"a completed job as text", "text", completed, `
flights: completed
  messages           20 000
  rate             69 186/s
  epochs                105
  visits              4 650
  passes                  6
  evictions           1 352
  early                   2
  late                1 234
  time               1.289s
`},
		{"a stopped job as text", "text", stopped, `
flights: stopped, the same command goes on from here
  messages                5
  rate                  0/s
  epochs                  0
  visits                  0
  passes                  0
  time                   0s
`},
		{"a completed job as JSON", "json", completed, `
{"name":"flights","completed":true,"messages":20000,"rate":69186.7,"epochs":105,"visits":4650,"passes":6,"evictions":1352,"counts":{"early":2,"evictions":1352,"late":1234},"elapsed_seconds":1.2894}
`},
		{"a job with timers as text", "text", timed, `
flights: stopped, the same command goes on from here
  messages                5
  rate                  0/s
  epochs                  0
  visits                  0
  passes                  0
  timers fired        1 200
  timers left  more than 100 000
  time                   0s
`},
		{"a job with timers as JSON", "json", timed, `
{"name":"flights","completed":false,"messages":5,"rate":0,"epochs":0,"visits":0,"passes":0,"timers":{"fired":1200,"pending":100000,"more_pending":true},"evictions":0,"counts":null,"elapsed_seconds":0}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := printSummary(&out, c.form, "flights", &c.sum); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + out.String(); got != c.want {
				t.Errorf("got:%swant:%s", got, c.want)
			}
		})
	}
}
