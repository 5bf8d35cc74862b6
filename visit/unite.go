package visit

import "fmt"

// entry is a listed key that waits for its visit.
type entry struct {
	key   Key
	bytes int
	// parts of the key are chunk.parts[first : first+count].
	first, count int
	stale        bool
}

// sizeOf returns the size of the rows of entries.
func sizeOf(entries []entry) (bytes int) {
	for i := range entries {
		bytes += entries[i].bytes
	}
	return bytes
}

// cut is what the answers to a list cover together.
type cut struct {
	covered, tail Range
	// capped says that the row cap, and not another limit, kept the list from
	// covering more.
	capped bool
}

// cutAnswers finds the position up to which every source is complete (KV-20). It
// fails on an answer that breaks the contract of [Answer], so that a faulty
// source cannot lose or repeat keys.
func cutAnswers(l List, answers []Answer) (cut, error) {
	c := cut{covered: l.Range}
	for i, a := range answers {
		to, err := completeTo(l, a)
		if err != nil {
			return cut{}, fmt.Errorf("source %d: %w", i, err)
		}
		full := a.Rows >= l.MaxRows
		switch to.Compare(c.covered.Upper) {
		case -1:
			c.covered.Upper, c.capped = to, full
		case 0:
			c.capped = c.capped || full
		}
	}
	c.tail = Range{Lower: c.covered.Upper, Upper: l.Range.Upper}
	return c, nil
}

// completeTo returns the position up to which one answer is complete. A list
// that returned its cap of rows may have stopped inside its last key, so that
// key counts as not read, whatever the source says (KV-19).
func completeTo(l List, a Answer) (Bound, error) {
	if err := checkKeys(l.Range, a.Keys); err != nil {
		return Bound{}, err
	}
	to := l.Range.Upper
	if a.CompleteTo != nil {
		to = *a.CompleteTo
	}
	if to.Compare(l.Range.Lower) < 0 || to.Compare(l.Range.Upper) > 0 {
		return Bound{}, fmt.Errorf("it claims to be complete to %s, which is outside the slice %s", to, l.Range)
	}
	if a.Rows < l.MaxRows {
		return to, nil
	}
	if len(a.Keys) == 0 {
		return Bound{}, fmt.Errorf("it returned %d rows of the slice %s without a key", a.Rows, l.Range)
	}
	if last := At(a.Keys[len(a.Keys)-1].Key); last.Compare(to) < 0 {
		to = last
	}
	return to, nil
}

// checkKeys verifies that keys are there and ascend strictly inside r.
func checkKeys(r Range, keys []Found) error {
	for i := range keys {
		if keys[i].Key.Bytes == "" {
			return fmt.Errorf("it returned an empty key for the hash %d: a visit needs a key", keys[i].Key.Hash)
		}
		if i > 0 && keys[i-1].Key.Compare(keys[i].Key) >= 0 {
			return fmt.Errorf("it returned key %s behind %s: keys must be distinct and ascend", keys[i].Key, keys[i-1].Key)
		}
	}
	if n := len(keys); n > 0 && !(r.Contains(keys[0].Key) && r.Contains(keys[n-1].Key)) {
		return fmt.Errorf("it returned keys %s to %s, some outside the slice %s", keys[0].Key, keys[n-1].Key, r)
	}
	return nil
}

// unreadable returns the sources that could not be read.
func unreadable(answers []Answer) (sources []int) {
	for i := range answers {
		if answers[i].Unreadable {
			sources = append(sources, i)
		}
	}
	return sources
}

// unite merges what the answers hold before end into one entry per distinct key
// (KV-3). Rows behind it are forgotten here; a source with a read-ahead of its
// own keeps them for the next slice (KV-20).
func unite(answers []Answer, end Bound) ([]entry, []Part) {
	heads := make([][]Found, len(answers))
	total := 0
	for i, a := range answers {
		heads[i] = before(a.Keys, end)
		total += len(heads[i])
	}
	if total == 0 {
		return nil, nil
	}
	parts := make([]Part, 0, total)
	if len(heads) == 1 {
		return single(heads[0], parts)
	}
	entries := make([]entry, 0, total)
	for {
		key, ok := lowest(heads)
		if !ok {
			return entries, parts
		}
		e := entry{key: key, first: len(parts)}
		for i, head := range heads {
			if len(head) > 0 && head[0].Key == key {
				parts = append(parts, Part{Source: i, Rows: head[0].Rows})
				e.bytes += head[0].Bytes
				heads[i] = head[1:]
			}
		}
		e.count = len(parts) - e.first
		entries = append(entries, e)
	}
}

// single is unite for one source.
func single(keys []Found, parts []Part) ([]entry, []Part) {
	entries := make([]entry, len(keys))
	for i := range keys {
		entries[i] = entry{key: keys[i].Key, bytes: keys[i].Bytes, first: i, count: 1}
		parts = append(parts, Part{Rows: keys[i].Rows})
	}
	return entries, parts
}

// before returns the keys that lie before end.
func before(keys []Found, end Bound) []Found {
	for len(keys) > 0 && end.atOrBefore(keys[len(keys)-1].Key) {
		keys = keys[:len(keys)-1]
	}
	return keys
}

// lowest returns the smallest first key of the heads.
func lowest(heads [][]Found) (Key, bool) {
	var low Key
	found := false
	for _, head := range heads {
		if len(head) > 0 && (!found || head[0].Key.Compare(low) < 0) {
			low, found = head[0].Key, true
		}
	}
	return low, found
}
