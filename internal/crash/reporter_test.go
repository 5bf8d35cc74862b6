package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// reporter writes the points that a child passes, a line each.
type reporter struct {
	mu   sync.Mutex
	out  io.Writer
	hold *regexp.Regexp
	left int // matches until it holds; not positive: never
}

func newReporter(out io.Writer, hold string, nth int) (*reporter, error) {
	pattern, err := regexp.Compile(hold)
	return &reporter{out: out, hold: pattern, left: nth}, err
}

// held is the line that says that a goroutine holds.
const held = "held"

// say writes a point, and never returns if this is the one to hold at. A test
// that does not read any more has killed the child, so errors do not matter.
func (r *reporter) say(format string, args ...any) {
	if r.write(fmt.Sprintf(format, args...)) {
		select {}
	}
}

func (r *reporter) write(line string) (hold bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.out, line)
	if r.left > 0 && r.hold.MatchString(line) {
		r.left--
		hold = r.left == 0
	}
	if hold {
		fmt.Fprintln(r.out, held)
	}
	return hold
}

// sayJSON writes a value as a line.
func (r *reporter) sayJSON(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		r.say("%s", line)
	}
	return err
}
