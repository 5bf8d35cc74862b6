package engine

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTheCacheOfRowsKeepsItsBounds against a plain map: what it has is what was put
// last, no older than its time, and never more than it may be; what was used last
// stays.
func TestTheCacheOfRowsKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newRowCache()
		size := (&cachedRow{key: "0", value: []byte("0")}).size()
		rows := rapid.IntRange(0, 5).Draw(t, "rows")
		ttl := time.Duration(rapid.IntRange(0, 9).Draw(t, "ttl"))
		c.limit(ttl, rows*size)
		type put struct {
			value string
			at    time.Duration
		}
		last := map[string]put{}
		var used []string // the one used last behind
		use := func(key string) {
			for i, k := range used {
				if k == key {
					used = append(used[:i], used[i+1:]...)
					break
				}
			}
			used = append(used, key)
		}
		for now := time.Duration(0); now < 40; now += time.Duration(rapid.IntRange(0, 2).Draw(t, "passed")) {
			key := fmt.Sprint(rapid.IntRange(0, 7).Draw(t, "key"))
			if rapid.Bool().Draw(t, "put") {
				value := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "value"))
				c.put(key, []byte(value), now)
				last[key] = put{value, now}
				use(key)
			} else if value, ok := c.get(key, now); ok {
				if p := last[key]; p.value != string(value) || now-p.at >= ttl {
					t.Fatalf("at %d, %s is %q of %d", now, key, value, p.at)
				}
				use(key)
			} else {
				use(key)
				used = used[:len(used)-1] // it had its time, or was forgotten before
			}
			if c.bytes > rows*size || len(c.rows) != c.used.Len() || len(c.rows)*size != c.bytes {
				t.Fatalf("%d bytes in %d rows", c.bytes, len(c.rows))
			}
			if ttl == 0 && len(c.rows) > 0 {
				t.Fatal("something is remembered for no time")
			}
			for at := c.used.Front(); at != nil; at = at.Next() {
				k, left := at.Value.(*cachedRow).key, false
				for i := max(0, len(used)-rows); i < len(used); i++ {
					left = left || used[i] == k
				}
				if !left {
					t.Fatalf("%s is left, the last ones used are %v", k, used)
				}
			}
			if now++; now > 40 {
				break
			}
		}
	})
}
