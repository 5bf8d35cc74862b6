package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var stateTests = map[string]func(t *testing.T, h Harness){
	"a commit is read back by key and name": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("b", "/y", "2"), set("a", "/x", "1"), set("b", "/x", "3"))
		w.gets("left", "a b", `{"/x"="1"} {"/x"="3" "/y"="2"}`)
	},
	"answers come in the order asked, for absent and repeated keys too": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("b", "/x", "1"), set("d", "/x", "2"))
		w.gets("left", "d a b d c e b", `{"/x"="2"} {} {"/x"="1"} {"/x"="2"} {} {} {"/x"="1"}`)
		w.gets("left", "", "")
	},
	"an empty value removes the row": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("a", "/x", "1"), set("a", "/y", "2"))
		w.must(0, set("a", "/x", ""), set("never", "/x", ""))
		w.gets("left", "a never", `{"/y"="2"} {}`)
		w.equal("listed", describeKeys(w.list("left")), `"a"(4){"/y"="2"}`)
	},
	"writes of one commit apply in order": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("a", "/x", "1"), set("a", "/x", ""), set("a", "/x", "2"), set("b", "/x", "3"), set("b", "/x", ""))
		w.gets("left", "a b", `{"/x"="2"} {}`)
	},
	"computations do not see each other's states": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("a", "/x", "left"))
		w.must(2, set("a", "/x", "right"))
		w.gets("left", "a", `{"/x"="left"}`)
		w.gets("right", "a", `{"/x"="right"}`)
		w.gets("unknown", "a", `{}`)
	},
	"partitions of a computation share its states": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("a", "/x", "1"))
		w.must(1, set("z", "/x", "2"))
		w.gets("left", "a z", `{"/x"="1"} {"/x"="2"}`)
	},
	"bytes of any kind and size come back as they were": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		long := string(make([]byte, 300_000))
		keys := []string{"\x00\x01", "\x00\xff", "\x01", "\xff", "\xff\xff" + long[:2000]}
		for _, k := range keys {
			w.must(0, set(k, "/x", "\x00"), set(k, "/x/longer", "\xff\x00"), set(k, "\xff", long))
		}
		got, err := w.GetStates(w.ctx, "left", keys)
		w.check(err)
		for i, rows := range got {
			if len(rows) != 3 || string(rows[0].Value) != "\x00" || string(rows[1].Value) != "\xff\x00" || string(rows[2].Value) != long {
				t.Fatalf("key %q has rows %.200v", keys[i], rows)
			}
		}
		w.equal("keys", keysOf(w.list("left")), keys)
	},
	"the store keeps copies": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		value, payload := []byte("kept"), []byte("kept")
		c := w.commit(0, w.produce(2, 1, ""))
		c.States = []store.StateWrite{{Key: "a", Name: "/x", Value: value}}
		c.Produced[0].Payload = payload
		c.Offset = value
		w.check(w.Commit(w.ctx, c))
		copy(value, "lost")
		copy(payload, "lost")
		w.gets("left", "a", `{"/x"="kept"}`)
		w.equal("payload", string(w.inbox(2)[0].Payload), "kept")
		w.equal("offset", string(w.raise(0).Offset), "kept")
	},
	"many keys in any order": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		c := w.commit(0)
		var keys []string
		for i := range 3000 {
			key := fmt.Sprintf("%04d", i*7919%3000)
			keys = append(keys, key)
			if i%3 != 0 {
				set(key, "/n", key)(c)
			}
		}
		w.check(w.Commit(w.ctx, c))
		got, err := w.GetStates(w.ctx, "left", keys)
		w.check(err)
		for i, rows := range got {
			if i%3 == 0 && len(rows) != 0 || i%3 != 0 && (len(rows) != 1 || string(rows[0].Value) != keys[i]) {
				t.Fatalf("key %s has rows %s", keys[i], describeRows(rows))
			}
		}
	},
}

// gets compares the rows of keys, given with blanks between them.
func (w *world) gets(computation, keys, want string) {
	w.t.Helper()
	got, err := w.GetStates(w.ctx, computation, strings.Fields(keys))
	w.check(err)
	text := ""
	for i, rows := range got {
		if i > 0 {
			text += " "
		}
		text += describeRows(rows)
	}
	w.equal("states of "+keys, text, want)
}
