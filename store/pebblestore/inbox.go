package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// ReadInbox reads lane by lane. It seeks beyond each position, so that rows
// that were read, and what is left of removed ones, cost nothing (D-11).
func (s *Store) ReadInbox(ctx context.Context, r store.InboxRequest) (*store.InboxAnswer, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	prefix := partitionKey(kindInbox, r.Target)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upperBound(prefix)})
	if err != nil {
		return nil, s.classify(err)
	}
	answer, err := readInbox(it, &r)
	return answer, s.classify(err)
}

// readInbox reads with an iterator over the target's inbox, and closes it.
func readInbox(it *pebble.Iterator, r *store.InboxRequest) (*store.InboxAnswer, error) {
	reader := inboxReader{it: it, request: r, answer: &store.InboxAnswer{End: true}}
	reader.after = make(map[store.Lane]store.Place, len(r.After))
	for _, p := range r.After {
		reader.after[p.Lane] = p.Place
	}
	if err := errors.Join(reader.read(), it.Close()); err != nil {
		return nil, err
	}
	return reader.answer, nil
}

type inboxReader struct {
	it      *pebble.Iterator
	request *store.InboxRequest
	after   map[store.Lane]store.Place
	answer  *store.InboxAnswer
	key     []byte
}

// read finds one lane after the other.
func (r *inboxReader) read() error {
	for ok := r.it.First(); ok; {
		key, _, err := inboxKeyOf(r.it.Key())
		if err != nil {
			return err
		}
		lane := key.Lane()
		if place, read := r.after[lane]; read {
			ok = r.it.SeekGE(r.beyond(lane, place))
		}
		if ok {
			ok, err = r.readLane(lane)
		}
		if err != nil {
			return err
		}
	}
	return r.it.Error()
}

// beyond returns the key after all parts of the row at place.
func (r *inboxReader) beyond(lane store.Lane, place store.Place) []byte {
	k := store.InboxKey{
		Target: r.request.Target, Layout: lane.Layout, Producer: lane.Producer,
		Generation: place.Generation, Number: place.Number,
	}
	r.key = appendInboxKey(r.key[:0], &k, 0xFF)
	return r.key
}

// readLane reads the rows of a lane from where the iterator is, and leaves it
// at another lane; false: at the end.
func (r *inboxReader) readLane(lane store.Lane) (ok bool, err error) {
	rows := &r.answer.Rows
	first, size := len(*rows), 0
	for ok = true; ok; ok = r.it.Next() {
		key, part, err := inboxKeyOf(r.it.Key())
		if err != nil || key.Lane() != lane {
			return true, err
		}
		value, err := r.it.ValueAndErr()
		if err != nil {
			return false, err
		}
		if part == partConsumed {
			if err := r.consumed(first, key, value); err != nil {
				return false, err
			}
			continue
		}
		row := store.InboxRow{InboxKey: key}
		if err := decodeInboxRow(&row, value); err != nil {
			return false, err
		}
		if size += len(row.Payload); r.request.MaxBytes > 0 && size > r.request.MaxBytes && len(*rows) > first {
			r.answer.End = false
			last := store.Place{Generation: math.MaxUint64, Number: math.MaxUint64}
			return r.it.SeekGE(r.beyond(lane, last)), nil
		}
		row.Payload = bytes.Clone(row.Payload)
		*rows = append(*rows, row)
	}
	return false, nil
}

// consumed applies the prefix beside the row that was read before it.
func (r *inboxReader) consumed(first int, key store.InboxKey, value []byte) error {
	rows := r.answer.Rows
	n, err := decodeNumber("consumed prefix", value)
	if err == nil && (len(rows) == first || rows[len(rows)-1].InboxKey != key) {
		err = corrupt("consumed prefix without inbox row %+v", key)
	}
	if err == nil {
		rows[len(rows)-1].Consumed = int(n)
	}
	return err
}

// InboxSizes reads every inbox once.
func (s *Store) InboxSizes(ctx context.Context) (out []store.InboxSize, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	err = s.scan([]byte{kindInbox}, func(key, value []byte) error {
		k, part, err := inboxKeyOf(key)
		if err != nil {
			return err
		}
		if n := len(out); n == 0 || out[n-1].Target != k.Target {
			out = append(out, store.InboxSize{Target: k.Target})
		}
		size := &out[len(out)-1]
		if part == partConsumed {
			n, err := decodeNumber("consumed prefix", value)
			size.Messages -= int(n)
			return err
		}
		row := store.InboxRow{InboxKey: k}
		err = decodeInboxRow(&row, value)
		size.Messages += row.Count
		size.Bytes += len(row.Payload)
		return err
	})
	return out, err
}
