package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// listed is what most tests here list: three names at most for a key, values of
// one byte. A key with n rows has 1 + 3n bytes.
func listed(w *world) {
	w.must(0,
		set("a", "/x", "1"), set("a", "/y", "2"), set("a", "/z", "3"),
		set("b", "/y", "4"),
		set("c", "/x", "5"), set("c", "/y", "6"),
		set("d", "/z", "7"),
	)
}

var listTests = map[string]func(t *testing.T, h Harness){
	"a list is ordered by key, then name, and half-open": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		all := `complete rows=7 bytes=25: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"} "c"(7){"/x"="5" "/y"="6"} "d"(4){"/z"="7"}`
		w.lists(store.ListRequest{}, all)
		w.lists(store.ListRequest{Lower: "a", Upper: "e"}, all)
		w.lists(store.ListRequest{Lower: "b", Upper: "d"}, `complete rows=3 bytes=11: "b"(4){"/y"="4"} "c"(7){"/x"="5" "/y"="6"}`)
		w.lists(store.ListRequest{Lower: "aa", Upper: "b"}, "complete rows=0 bytes=0:")
		w.lists(store.ListRequest{Lower: "d"}, `complete rows=1 bytes=4: "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Lower: "c", Upper: "b"}, "complete rows=0 bytes=0:")
		w.lists(store.ListRequest{Lower: "c", Upper: "c"}, "complete rows=0 bytes=0:")
	},
	"other computations are not seen at either end": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("\xff\xff", "/x", "1"))
		w.must(2, set("\x00\x00", "/x", "2"))
		w.equal("left", keysOf(w.list("left")), []string{"\xff\xff"})
		w.equal("right", keysOf(w.list("right")), []string{"\x00\x00"})
		w.equal("unknown", keysOf(w.list("unknown")), []string{})
	},
	"bounds may be prefixes of keys": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("\x00a", "/x", "1"), set("\x01\x00", "/x", "2"), set("\x01\xff", "/x", "3"), set("\x02", "/x", "4"))
		w.lists(store.ListRequest{Lower: "\x01", Upper: "\x01\x01"}, `complete rows=1 bytes=5: "\x01\x00"(5){"/x"="2"}`)
		w.lists(store.ListRequest{Lower: "\x01", Upper: "\x02"}, `complete rows=2 bytes=10: "\x01\x00"(5){"/x"="2"} "\x01\xff"(5){"/x"="3"}`)
	},
	"only the names asked for count": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		w.lists(store.ListRequest{Names: []string{"/z"}}, `complete rows=2 bytes=8: "a"(4){"/z"="3"} "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Names: []string{"/z", "/x"}}, `complete rows=4 bytes=15: "a"(7){"/x"="1" "/z"="3"} "c"(4){"/x"="5"} "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Names: []string{"/"}}, "complete rows=0 bytes=0:")
		w.lists(store.ListRequest{Names: []string{}, Lower: "d"}, `complete rows=1 bytes=4: "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Names: []string{"/z"}, MaxRows: 1}, `to "a" rows=1 bytes=4: "a"(4){"/z"="3"}`)
	},
	// KV-19: as many rows as the cap means complete up to the last key only.
	"a full list is complete up to its last key, whatever follows": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		w.lists(store.ListRequest{MaxRows: 2}, `to "a" rows=2 bytes=7: "a"(7){"/x"="1" "/y"="2"}`)
		w.lists(store.ListRequest{MaxRows: 3}, `to "a" rows=3 bytes=10: "a"(10){"/x"="1" "/y"="2" "/z"="3"}`)
		w.lists(store.ListRequest{MaxRows: 5}, `to "c" rows=5 bytes=18: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"} "c"(4){"/x"="5"}`)
		w.lists(store.ListRequest{Lower: "c", MaxRows: 3}, `to "d" rows=3 bytes=11: "c"(7){"/x"="5" "/y"="6"} "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Lower: "b", Upper: "c", MaxRows: 1}, `to "b" rows=1 bytes=4: "b"(4){"/y"="4"}`)
		w.lists(store.ListRequest{Lower: "b", Upper: "c", MaxRows: 2}, `complete rows=1 bytes=4: "b"(4){"/y"="4"}`)
	},
	"bytes limit whole keys, and one comes whatever its size": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		w.lists(store.ListRequest{MaxBytes: 1}, `to "b" rows=3 bytes=10: "a"(10){"/x"="1" "/y"="2" "/z"="3"}`)
		w.lists(store.ListRequest{MaxBytes: 13}, `to "b" rows=3 bytes=10: "a"(10){"/x"="1" "/y"="2" "/z"="3"}`)
		w.lists(store.ListRequest{MaxBytes: 14}, `to "c" rows=4 bytes=14: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"}`)
		w.lists(store.ListRequest{MaxBytes: 20}, `to "c" rows=4 bytes=14: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"}`)
		w.lists(store.ListRequest{Lower: "c", MaxBytes: 11}, `complete rows=3 bytes=11: "c"(7){"/x"="5" "/y"="6"} "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Lower: "d", MaxBytes: 1}, `complete rows=1 bytes=4: "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{Names: []string{"/x", "/z"}, MaxBytes: 8}, `to "c" rows=2 bytes=7: "a"(7){"/x"="1" "/z"="3"}`)
	},
	"whichever limit is reached first ends the list": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		w.lists(store.ListRequest{MaxRows: 4, MaxBytes: 13}, `to "b" rows=3 bytes=10: "a"(10){"/x"="1" "/y"="2" "/z"="3"}`)
		w.lists(store.ListRequest{MaxRows: 2, MaxBytes: 1}, `to "a" rows=2 bytes=7: "a"(7){"/x"="1" "/y"="2"}`)
		w.lists(store.ListRequest{MaxRows: 5, MaxBytes: 18}, `to "c" rows=5 bytes=18: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"} "c"(4){"/x"="5"}`)
	},
	"pages by any limit add up to the whole": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		manyKeys(w, 300)
		want := describeKeys(w.list("left"))
		for _, r := range []store.ListRequest{{MaxRows: 7}, {MaxBytes: 60}, {MaxWork: 5}, {MaxRows: 9, MaxBytes: 80, MaxWork: 11}} {
			r.Computation = "left"
			w.equal(fmt.Sprintf("pages of %+v", r), describeKeys(w.pages(r)), want)
		}
	},
	// KV-19: a list over deleted rows comes back in bounded time with how far
	// it got.
	"a list bounded in work gets on over any number of deleted rows": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		manyKeys(w, 2000)
		manyKeys(w, 2000, "") // deletes them all
		w.must(0, set("~last", "/x", "1"))
		w.equal("pages", describeKeys(w.pages(store.ListRequest{Computation: "left", MaxWork: 100})), `"~last"(8){"/x"="1"}`)
		a, err := w.ListStates(w.ctx, store.ListRequest{Computation: "left", MaxWork: 100, Upper: "~"})
		w.check(err)
		if len(a.Keys) != 0 || !a.Complete && a.CompleteTo <= "0000" {
			t.Fatalf("over deleted rows: %s", describeAnswer(a))
		}
	},
	"a list bounded in work gets beyond one key": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		listed(w)
		w.lists(store.ListRequest{MaxWork: 1}, `to "b" rows=3 bytes=10: "a"(10){"/x"="1" "/y"="2" "/z"="3"}`)
		w.lists(store.ListRequest{Lower: "d", MaxWork: 1}, `complete rows=1 bytes=4: "d"(4){"/z"="7"}`)
		w.lists(store.ListRequest{MaxWork: 1, Names: []string{"/q"}}, `to "b" rows=0 bytes=0:`)
		w.lists(store.ListRequest{MaxWork: 5}, `to "c" rows=4 bytes=14: "a"(10){"/x"="1" "/y"="2" "/z"="3"} "b"(4){"/y"="4"}`)
	},
}

// manyKeys writes n keys with one to three rows; a given value replaces theirs.
func manyKeys(w *world, n int, value ...string) {
	c := w.commit(0)
	for i := range n {
		for j := range 1 + i%3 {
			v := fmt.Sprint(i)
			if len(value) > 0 {
				v = value[0]
			}
			set(fmt.Sprintf("%04d", i), fmt.Sprintf("/%d", j), v)(c)
		}
	}
	w.check(w.Commit(w.ctx, c))
}

// lists compares one answer of "left".
func (w *world) lists(r store.ListRequest, want string) {
	w.t.Helper()
	r.Computation = "left"
	a, err := w.ListStates(w.ctx, r)
	w.check(err)
	w.equal(fmt.Sprintf("list %+v", r), describeAnswer(a), want)
}

func describeAnswer(a *store.ListAnswer) string {
	to := "complete"
	if !a.Complete {
		to = fmt.Sprintf("to %q", a.CompleteTo)
	}
	text := fmt.Sprintf("%s rows=%d bytes=%d:", to, a.Rows, a.Bytes)
	if len(a.Keys) > 0 {
		text += " " + describeKeys(a.Keys)
	}
	return text
}

// pages reads a range page by page, as the visitor does: it keeps what is below
// CompleteTo and goes on from there. A page without progress is a failure.
func (w *world) pages(r store.ListRequest) []store.ListedKey {
	w.t.Helper()
	var all []store.ListedKey
	for {
		a, err := w.ListStates(w.ctx, r)
		w.check(err)
		if a.Complete {
			return append(all, a.Keys...)
		}
		if a.CompleteTo <= r.Lower {
			w.t.Fatalf("no progress beyond %q: %s", r.Lower, describeAnswer(a))
		}
		covered := slices.IndexFunc(a.Keys, func(k store.ListedKey) bool { return k.Key >= a.CompleteTo })
		if covered < 0 {
			covered = len(a.Keys)
		}
		all = append(all, a.Keys[:covered]...)
		r.Lower = a.CompleteTo
	}
}
